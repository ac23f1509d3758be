import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { addFailedPublish } from '../../../../test-support/publish/failed-publish.ts';
import { seedRecords } from '../../../../test-support/records/seed-tenant.ts';
import type { Tenant } from '../../../../test-support/service/api.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('overview', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const run = (text: string, values: unknown[]) => web.api.database.pool.query({ text, values });

  /** One thing of each kind that needs somebody, and two codes. */
  async function addTrouble(tenant: Tenant): Promise<void> {
    const { organisationId, facilityId } = tenant;
    const { connectionId, accountId } = await seedRecords(web.api.database.pool, tenant);
    await run('update exchange_connection set disabled_at = null where organisation_id = $1', [
      organisationId,
    ]);
    await run(
      `insert into exchange_circuit (organisation_id, connection_id, opened_at) values ($1, $2, now())
       on conflict (organisation_id, connection_id) do update set opened_at = now()`,
      [organisationId, connectionId],
    );
    await run(
      `insert into import_run (organisation_id, facility_id, id, source, state)
       values ($1, $2, $3, 'http', 'rejected')`,
      [organisationId, facilityId, randomUUID()],
    );
    for (const code of ['GLU', 'HB'])
      await run(
        `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place,
           met_count, first_met_at, last_met_at)
         values ($1, $2, 'urn:lab', $3, 'lab.result', 4, now(), now())`,
        [organisationId, facilityId, code],
      );
    await web.api.createAccount(tenant, { mustChangePassword: true });
    await run('update account set requires_password_setup = true where organisation_id = $1 and id = $2', [
      organisationId,
      accountId,
    ]);
    await addFailedPublish(web.api, tenant);
  }

  test('a new organisation is told its first three steps; nothing that needs anybody is said [WEB-55]', async (t) => {
    const { page } = await web.open(t, '/');
    await page.getByRole('heading', { name: 'The first three steps' }).waitFor();
    await page.getByRole('heading', { name: 'Nothing needs you now' }).waitFor();
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.waitForURL('**/console/imports');
    await page.goBack();
    await page.getByRole('heading', { name: 'The first three steps' }).waitFor();
  });

  test('who manages a facility without systems is told so of that facility, not of the organisation [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant();
    const facilityId = await web.api.createFacility(tenant.organisationId);
    await web.api.createAccount(tenant);
    const { page } = await web.open(t, '/', { tenant: { ...tenant, facilityId } });
    await page
      .getByText(/^No system has an account at Other Facility yet\. If one works elsewhere/)
      .waitFor();
  });

  test('what needs somebody leads to the page that mends it; the period of the charts is in the address [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const pool = web.api.database.pool;
    await seedRecords(pool, tenant);
    await web.api.createAccount(tenant, { mustChangePassword: true });
    await pool.query(
      `insert into import_run (organisation_id, facility_id, id, source, state, alive_at, started_at)
       values ($1, $2, $3, 'http', 'rejected', now(), now())`,
      [tenant.organisationId, tenant.facilityId, randomUUID()],
    );
    const { page } = await web.open(t, '/', { tenant });
    await page.getByRole('heading', { name: 'Incomplete imports' }).waitFor();
    await page.getByRole('heading', { name: 'Accounts that must change their password' }).waitFor();
    await page.getByRole('link', { name: 'Review them' }).click();
    await page.waitForURL('**/console/exchange/held');
    await page.goBack();
    await page.getByText('Last 7 days').click();
    await page.waitForURL('**/console/?hours=168');
    await page.getByRole('figure', { name: /^Calls of systems/ }).waitFor();
    await page.reload();
    await page.getByRole('radio', { name: 'Last 7 days', checked: true }).waitFor({ state: 'attached' });
  });

  test('each kind says how many there are, and leads to the list that has them [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await addTrouble(tenant);
    const { page } = await web.open(t, '/', { tenant });
    const lines = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await lines.nth(6).waitFor();
    await lines.getByText('A link ends 72 hours after it was made').waitFor();
    const shown: Record<string, string> = {};
    for (const line of await lines.all()) {
      const name = (await line.getByRole('heading').textContent()) ?? '';
      const href = (await line.getByRole('link').getAttribute('href')) ?? '';
      shown[name] = `${await line.locator('strong').textContent()} ${href.replace('/console/', '')}`;
    }
    assert.deepEqual(shown, {
      'Held deliveries': '1 exchange/held',
      'Exchanges where deliveries fail': '1 exchange/connections',
      'Publish targets that fail': '1 publishing?state=failed',
      'Incomplete imports': '1 imports?state=incomplete',
      'Codes without a standard code': '2 terminology',
      'Accounts that must change their password': '1 integration-accounts?state=must-change-password',
      'Accounts without a password yet': '1 integration-accounts?state=requires-setup',
    });
  });

  test('the overview leads to the imports that failed or rejected something, and to no other [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    for (const state of ['finished', 'failed', 'rejected'])
      await run(
        `insert into import_run (organisation_id, facility_id, id, source, state, file_name)
         values ($1, $2, $3, 'http', $4, $4 || '.ndjson')`,
        [tenant.organisationId, tenant.facilityId, randomUUID(), state],
      );
    const { page } = await web.open(t, '/', { tenant });
    await page.getByRole('link', { name: 'Read the reports' }).click();
    await page.getByText('failed.ndjson').waitFor();
    await page.getByText('rejected.ndjson').waitFor();
    assert.equal(await page.getByText('finished.ndjson').count(), 0);
    const filter = page.getByLabel('State');
    assert.equal(await filter.locator('option:checked').textContent(), 'Incomplete: rejected or failed');
    await filter.selectOption('Running');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
  });

  test('accounts that wait lead to the list that has them: of systems, of people, or both [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const person = await web.api.createAccount(tenant, { userType: 'STAFF', mustChangePassword: true });
    const { page } = await web.open(t, '/', { tenant });
    const line = page.getByRole('listitem').filter({ hasText: 'Accounts that must change their password' });
    await line.getByRole('link', { name: 'See the people' }).waitFor();
    assert.equal(await line.getByRole('link').count(), 1, 'of systems there is none');
    await web.api.createAccount(tenant, { mustChangePassword: true });
    await page.reload();
    await line.getByRole('link', { name: 'See the systems' }).waitFor();
    await line.getByRole('link', { name: 'See the people' }).click();
    await page.waitForURL('**/console/people?state=must-change-password');
    await page.getByRole('link', { name: person.email }).waitFor();
  });

  test('who manages people and nothing else is told of the people who wait [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await web.api.createAccount(tenant, { userType: 'STAFF', mustChangePassword: true });
    const { page } = await web.open(t, '/', { tenant, permissions: ['people.manage'] });
    await page.getByRole('heading', { name: 'Accounts that must change their password' }).waitFor();
    await page.getByRole('figure', { name: /^Calls of systems/ }).waitFor();
  });

  test('calls, publishes and deliveries are drawn over time, with what failed of them [WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    for (const [kind, count] of [
      ['calls-answered', 400],
      ['calls-refused', 3],
      ['calls-failed', 2],
      ['publishes', 9],
      ['publish-failures', 4],
      ['deliveries', 7],
      ['delivery-failures', 5],
    ])
      await run(
        `insert into activity_hour (organisation_id, facility_id, hour, kind, count)
         values ($1, $2, date_trunc('hour', $3::timestamptz) - interval '3 hours', $4, $5)`,
        [tenant.organisationId, tenant.facilityId, web.api.clock.now, kind, count],
      );
    const { page } = await web.open(t, '/', { tenant });
    for (const [name, ...parts] of [
      // The console itself may call meanwhile.
      ['Calls of systems and of the console', /^4\d\d answered$/, '3 refused (4xx)', '2 failed'],
      ['Publishes', '9 published', '4 failed'],
      ['Deliveries to exchanges', '7 delivered', '5 attempts failed'],
    ] as const) {
      const chart = page.getByRole('figure', { name });
      for (const part of parts) await chart.getByRole('listitem').filter({ hasText: part }).waitFor();
      const ofHour = chart.getByRole('row').nth(21);
      await ofHour.getByRole('cell', { name: /^(3|4|5)$/ }).waitFor();
      assert.equal(await chart.getByRole('row').count(), 25, 'each hour, and the heading');
      assert.ok((await chart.locator('svg g').nth(20).locator('rect').count()) > 2, 'its bars');
    }
  });

  test('one of a kind is named in the singular, in French and English [WEB-8, WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    for (const kind of ['publishes', 'deliveries', 'delivery-failures'])
      await run(
        `insert into activity_hour (organisation_id, facility_id, hour, kind, count)
         values ($1, $2, date_trunc('hour', $3::timestamptz) - interval '3 hours', $4, 1)`,
        [tenant.organisationId, tenant.facilityId, web.api.clock.now, kind],
      );
    const { page } = await web.open(t, '/', { tenant, language: 'fr' });
    for (const part of ['1 réussie', '1 livré', '1 essai en échec'])
      await page.getByRole('listitem').getByText(part, { exact: true }).waitFor();
    const other = await web.open(t, '/', { tenant });
    await other.page.getByRole('listitem').getByText('1 attempt failed', { exact: true }).waitFor();
  });

  test('large numbers leave room for the words on a narrow screen, and stand in one line in French [WEB-8, WEB-55]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { organisationId, facilityId } = tenant;
    await run(
      `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place,
         met_count, first_met_at, last_met_at)
       select $1, $2, 'urn:lab', 'C' || n, 'lab.result', 4, now(), now() from generate_series(1, 1001) n`,
      [organisationId, facilityId],
    );
    await run(
      `insert into activity_hour (organisation_id, facility_id, hour, kind, count)
       values ($1, $2, date_trunc('hour', $3::timestamptz) - interval '3 hours', 'publishes', 2500)`,
      [organisationId, facilityId, web.api.clock.now],
    );
    const { page } = await web.open(t, '/', { tenant, language: 'fr' });
    const mark = await page.getByText('1,5', { exact: false }).first().boundingBox();
    assert.ok(mark !== null && mark.height < 24, JSON.stringify(mark));
    await page.setViewportSize({ width: 360, height: 740 });
    const line = page.getByRole('listitem').filter({ hasText: 'plus de' });
    const [count, words] = [line.locator('strong'), line.getByRole('heading')];
    const [left, right] = [await count.boundingBox(), await words.boundingBox()];
    assert.ok(
      left !== null && right !== null && right.width > 2 * left.width,
      JSON.stringify({ left, right }),
    );
  });

  test('a role without any of it is told so, and what cannot be read is said with a way to try again [WEB-55]', async (t) => {
    const { page } = await web.open(t, '/', { permissions: ['facilities.manage'] });
    await page.getByRole('heading', { name: 'Your role has no overview' }).waitFor();
    const other = await web.open(t, '/my-account', { expected: /Failed to load|ERR_FAILED/ });
    await other.page.route('**/api/overview', (route) => route.abort());
    await other.page.getByRole('link', { name: 'Overview' }).click();
    await other.page.getByText('The service cannot be reached.').first().waitFor();
    await other.page.unroute('**/api/overview');
    await other.page.getByRole('button', { name: 'Try again' }).first().click();
    await other.page.getByRole('heading', { name: 'Nothing needs you now' }).waitFor();
  });
});
