/** Publishing in the console, in a real browser: targets, the list, and one record. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createFhirServer } from '../../../../src/publish/servers/manage-fhir-servers.ts';
import { PUBLISH } from '../../../../src/publish/servers/publish-settings.ts';
import { insertPatients } from '../../../../test-support/exchange/exchange-records.ts';
import { startFhirServer } from '../../../../test-support/fhir-server/start.ts';
import { addFailedPublish } from '../../../../test-support/publish/failed-publish.ts';
import { createClinic, createTestClock } from '../../../../test-support/publish/publish-records.ts';
import { seedRecords } from '../../../../test-support/records/seed-tenant.ts';
import type { Tenant } from '../../../../test-support/service/api.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('publishing', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  // Nobody waits between the tries of a publish. The service takes the clock when it starts.
  const { clock } = PUBLISH;
  before(() => {
    PUBLISH.clock = createTestClock();
  });
  after(() => {
    PUBLISH.clock = clock;
  });
  const web = useConsole();
  const addTarget = ({ organisationId }: Tenant, name: 'main' | 'away' | 'spare', base: string) =>
    createFhirServer(
      { db: web.api.database.pool, keys: web.api.keys },
      {
        organisationId,
        settings: { name, base, auth: 'none' },
        secret: undefined,
        makeDefault: name === 'main',
      },
    );

  test('shows what would be sent, publishes, and lists it with its failure [WEB-45, WEB-46]', async (t) => {
    const server = await startFhirServer('--no-integrity');
    t.after(() => server.stop());
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const scope = { ...tenant, timeZone: 'Europe/Paris' };
    const { orderId } = await createClinic(web.api.database.pool, { results: 2, scope });
    await addTarget(tenant, 'main', server.base);
    await addTarget(tenant, 'away', 'http://127.0.0.1:9');
    await addTarget(tenant, 'spare', 'http://127.0.0.1:9');
    const { page } = await web.open(t, `/publishing/lab/${orderId}`, { tenant, expected: /50[23]/ });
    await page.getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
    await page.getByRole('button', { name: 'Show what would be sent' }).click();
    await page.getByText(/4 requests would be sent/).waitFor();
    assert.equal((await server.state()).resources.length, 0);
    await page.getByRole('button', { name: 'Publish again' }).click();
    const question = page.getByRole('dialog', { name: 'Publish to main?' });
    await question.getByRole('button', { name: 'Publish again' }).click();
    await page.getByText('4 resources are stored at the target.').waitFor();
    await page.getByRole('row').filter({ hasText: 'main' }).getByText('Done').waitFor();

    await page.getByLabel('To', { exact: true }).selectOption('away');
    await page.getByRole('button', { name: 'Publish again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish again' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'All publishes' }).click();
    await page.getByLabel('State').selectOption('failed');
    await page.waitForURL('**/publishing?state=failed');
    const failed = page.getByRole('row').filter({ hasText: 'away' });
    await failed.getByText('Failed').waitFor();
    await failed.getByText(/was not answered/).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'main' }).count(), 0);
    await page.getByLabel('Record', { exact: true }).selectOption('Vital signs');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('Record', { exact: true }).selectOption('Laboratory order');
    await failed.getByRole('link', { name: 'Laboratory order' }).click();
    await page.waitForURL(`**/publishing/lab/${orderId}`);
    await failed.getByText(/was not answered/).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Targets' }).click();
    await page.getByRole('row').filter({ hasText: 'main (default)' }).getByText('Working').waitFor();
    await failed.getByText('Last one failed').waitFor();
    await page.getByRole('row').filter({ hasText: 'spare' }).getByText('Not used lately').waitFor();
    await failed.getByText(/was not answered/).waitFor();
  });

  test('a publish by the id of an order that was replaced leads to the order that was sent [WEB-46]', async (t) => {
    const server = await startFhirServer('--no-integrity');
    t.after(() => server.stop());
    const tenant = await web.api.createTenant();
    const { orderId } = await createClinic(web.api.database.pool, {
      results: 2,
      scope: { ...tenant, timeZone: 'UTC' },
    });
    await addTarget(tenant, 'main', server.base);
    const replaced = randomUUID();
    await web.api.database.pool.query(
      `insert into replaced_order (organisation_id, facility_id, id, part_table, part_id, patient_id)
       select organisation_id, facility_id, $2, 'observation', id, patient_id
       from observation
       where order_id = $1
       limit 1`,
      [orderId, replaced],
    );
    const { page } = await web.open(t, `/publishing/lab/${replaced}`, { tenant });
    await page.getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
    await page.getByRole('button', { name: 'Publish again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish again' }).click();
    await page.waitForURL(`**/publishing/lab/${orderId}`);
    await page.getByText('4 resources are stored at the target.').waitFor();
    await page.getByRole('row').filter({ hasText: 'main' }).getByText('Done').waitFor();
  });

  test('each filter is asked of the service [WEB-45]', async (t) => {
    const { api } = web;
    const { pool } = api.database;
    const tenant = await api.createTenant({ timeZone: 'Europe/Paris' });
    const { patientId, labOrderId } = await seedRecords(pool, tenant);
    const [other = ''] = await insertPatients(pool, tenant, 1);
    await addFailedPublish(api, tenant, labOrderId);
    await addTarget(tenant, 'spare', 'http://127.0.0.1:9');
    const { page } = await web.open(t, '/publishing', { tenant });
    const row = page.getByRole('row').filter({ hasText: 'It broke.' });
    const nothing = page.getByRole('heading', { name: 'Nothing matches the filters' });
    const filters: [label: string, without: string, matching: string][] = [
      ['State', 'done', 'failed'],
      ['Record', 'vitals', 'lab'],
      ['Target', 'spare', 'away'],
      ['Patient id', other, patientId],
      ['Begun since', '2099-01-01', '2026-01-01'],
      ['Begun before', '2000-01-01', '2099-01-01'],
    ];
    for (const [index, [label, without, matching]] of filters.entries()) {
      const field = page.getByLabel(label, { exact: true });
      const set = (value: string) => (index < 3 ? field.selectOption(value) : field.fill(value));
      await row.waitFor();
      await set(without);
      await nothing.waitFor();
      await set(matching);
    }
    await row.waitFor();
  });

  test('the requests that would be sent are told apart, where the screen is narrow too [WEB-46]', async (t) => {
    const tenant = await web.api.createTenant();
    const scope = { ...tenant, timeZone: 'UTC' };
    const { orderId } = await createClinic(web.api.database.pool, { results: 2, scope });
    await addTarget(tenant, 'main', `http://127.0.0.1:9/${'long/'.repeat(12)}fhir`);
    const { page } = await web.open(t, `/publishing/lab/${orderId}`, { tenant });
    await page.getByRole('button', { name: 'Show what would be sent' }).click();
    await page.getByRole('region', { name: `the request of ServiceRequest/${orderId}` }).waitFor();
  });

  test('a record says why it cannot be published again where there is no target [WEB-46]', async (t) => {
    const tenant = await web.api.createTenant();
    const { orderId } = await createClinic(web.api.database.pool, {
      results: 1,
      scope: { ...tenant, timeZone: 'UTC' },
    });
    const { page } = await web.open(t, `/publishing/lab/${orderId}`, { tenant });
    await page.getByText('There is no FHIR server to publish to. Ask the operator').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Publish again' }).isDisabled());
  });

  test('why a publish failed has room, and headings are whole, in French [WEB-8, WEB-45, WEB-46]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { labOrderId } = await seedRecords(web.api.database.pool, tenant);
    await addFailedPublish(web.api, tenant, labOrderId);
    const { page } = await web.open(t, '/publishing', { tenant, language: 'fr' });
    for (const path of ['', '/targets', `/lab/${labOrderId}`])
      for (const width of [1280, 1024]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${web.api.origin}/console/publishing${path}`);
        const failure = page.getByRole('cell', { name: 'It broke.' });
        await failure.waitFor();
        const { width: room = 0 } = (await failure.boundingBox()) ?? {};
        assert.ok(room >= 160, `${path} at ${width} px: ${room} px`);
        for (const cell of await page.locator('th:visible, td').all())
          assert.ok(
            await cell.evaluate((one) => one.clientWidth <= 1 || one.scrollWidth <= one.clientWidth),
            `${path} at ${width} px`,
          );
      }
  });

  test('what failed is asked for from the palette [WEB-45]', async (t) => {
    const { page } = await web.open(t, '/publishing');
    await page.getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('publishing failed');
    await page.getByRole('option', { name: 'Publishing: Failed' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/publishing?state=failed');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
  });

  test('says who adds a target where there is none, and which permission a record needs [WEB-45, WEB-46]', async (t) => {
    const permissions = ['publish.publications.read'];
    const { page } = await web.open(t, '/publishing/targets', { permissions });
    await page.getByText(/Ask the operator of the service/).waitFor();
    await page.goto(`${web.api.origin}/console/publishing/vitals/${crypto.randomUUID()}`);
    await page.getByText('encounters.vitals.manage').waitFor();
  });
});
