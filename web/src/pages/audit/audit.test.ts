import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { insertPatients } from '../../../../test-support/exchange/exchange-records.ts';
import { holdDeliveries } from '../../../../test-support/exchange/held-deliveries.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

const FOUR = [
  'encounters.access',
  'encounters.fhir.encounter.read',
  'encounters.fhir.encounter.search',
  'encounters.vitals.read',
];

describe('audit log', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('changes with before and after, filters in the address, and an export of what they mean [WEB-57]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { token } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const path = `/facilities/${tenant.facilityId}`;
    for (const body of [{ name: 'Ward North' }, { modules: ['patients', 'lab'] }]) {
      const answer = await web.api.call(path, { method: 'PATCH', token, body });
      assert.equal(answer.status, 200, answer.text);
    }
    const { page } = await web.open(t, '/audit', { tenant });
    const table = page.getByRole('table', { name: 'Changes' });
    await table.getByText('Ward North').first().waitFor();
    await table.getByRole('deletion').filter({ hasText: 'imaging' }).waitFor();
    await page.getByLabel('What', { exact: true }).selectOption('Facility changed');
    await page.waitForURL('**/console/audit?action=facility.change');
    await page.getByText('2 rows', { exact: true }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'As NDJSON, one change a line' }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'audit.ndjson');
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).action),
      ['facility.change', 'facility.change'],
    );
  });

  test('a file that breaks off is no fault of the console [WEB-57]', async (t) => {
    const { page } = await web.open(t, '/audit');
    // As browsers tell it.
    await page.evaluate('Response.prototype.blob = () => Promise.reject(new TypeError("network error"))');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem').first().click();
    await page.getByText('The export failed. The service cannot be reached').waitFor();
  });

  test('the palette exports what the filters mean by now [WEB-9, WEB-57]', async (t) => {
    const { page } = await web.open(t, '/audit');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    await page.getByLabel('What', { exact: true }).selectOption('facility.change');
    await page.waitForURL('**/audit?action=facility.change');
    const asked = page.waitForRequest('**/administration/audit/export?*');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('export csv');
    await page.keyboard.press('Enter');
    assert.equal(new URL((await asked).url()).searchParams.get('action'), 'facility.change');
  });

  test('each filter is asked of the service [WEB-57]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { token, email } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const body = { name: 'Ward North' };
    await web.api.call(`/facilities/${tenant.facilityId}`, { method: 'PATCH', token, body });
    const { page, account } = await web.open(t, '/audit?action=facility.change', { tenant });
    const filters: [label: string, without: string, matching: string][] = [
      ['Who: email or operator', account.email, ` ${email} `],
      ['Of what: name or id', account.userId, tenant.facilityId],
      ['From', '2099-01-01', '2026-01-01'],
      ['Before', '2000-01-01', '2099-01-01'],
    ];
    for (const [label, without, matching] of filters) {
      await page.getByText('1 row', { exact: true }).waitFor();
      await page.getByLabel(label, { exact: true }).fill(without);
      await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
      await page.getByLabel(label, { exact: true }).fill(matching);
    }
    await page.getByText('1 row', { exact: true }).waitFor();
  });

  test('in French, the operator is found by his French word, and an import of maps is in French [WEB-57, WEB-67]', async (t) => {
    const tenant = await web.api.createTenant();
    const { token } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const headers = { 'content-type': 'text/csv' };
    const body =
      'local_system,local_code,local_display,target_system,target_code,target_display\nurn:lab,HB,,http://loinc.org,718-7,\n';
    const answer = await web.api.call('/terminology/maps/import', { method: 'POST', token, headers, body });
    assert.equal(answer.status, 200, answer.text);
    const { page } = await web.open(t, '/audit?action=terminology-map.import', { tenant, language: 'fr' });
    for (const member of ['nouvelles', 'modifiées', 'inchangées', 'écartées'])
      await page.getByText(new RegExp(`^${member}\\s:`)).waitFor();
    const asked = page.waitForRequest((request) => request.url().includes('actor=operator'));
    await page.getByLabel('Qui (ou opérateur)').fill('Opérateur');
    await asked;
  });

  test('in French, refused purposes are in French; a long list is opened, and does not pass for all there is [WEB-57, WEB-67]', async (t) => {
    const tenant = await web.api.createTenant();
    const [patientId] = await insertPatients(web.api.database.pool, tenant, 1);
    const { token } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    for (const [path, method, body] of [
      [`/patients/base/${patientId}/privacy`, 'PUT', { refusedPurposes: ['RESEARCH'] }],
      ['/roles', 'POST', { name: 'four', permissions: FOUR }],
    ] as const) {
      const answer = await web.api.call(path, { method, token, body });
      assert.ok(answer.status < 300, answer.text);
    }
    const { page } = await web.open(t, '/audit', { tenant, language: 'fr' });
    const row = (what: string) => page.getByRole('row').filter({ hasText: what });
    await row('Confidentialité modifiée').getByRole('insertion').filter({ hasText: 'Recherche' }).waitFor();
    await row('Rôle créé').getByText('Afficher les 4').click();
    await row('Rôle créé').getByText(FOUR.join(', ')).waitFor();
  });

  test('deliveries and maps are named after what they belong to, and connections by their names [WEB-57]', async (t) => {
    const tenant = await web.api.createTenant();
    const { pool } = web.api.database;
    const { connectionId } = await holdDeliveries(web.api, tenant, { count: 1 });
    const { token } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const post = async (path: string, body: string | object, type = 'application/json') => {
      const headers = { 'content-type': type };
      const answer = await web.api.call(path, { method: 'POST', token, headers, body });
      assert.equal(answer.status, 200, answer.text);
    };
    await post('/exchange/deliveries/replay', { connectionId });
    const map = 'local_system,local_code,target_system,target_code\nurn:lab,HB,http://loinc.org,718-7\n';
    for (const level of ['organisation', 'facility'])
      await post(`/terminology/maps/import?level=${level}`, map, 'text/csv');
    const { rows } = await pool.query<{ name: string }>(
      `select name from organisation where id = $1
       union all select name from facility where organisation_id = $1`,
      [tenant.organisationId],
    );
    const { page } = await web.open(t, '/audit', { tenant });
    const table = page.getByRole('table', { name: 'Changes' });
    const replayed = table.getByRole('row').filter({ hasText: 'Deliveries replayed' });
    await replayed.getByTitle(connectionId).filter({ hasText: 'National exchange' }).waitFor();
    await replayed.getByText(/^connection:/).waitFor();
    assert.doesNotMatch((await replayed.textContent()) ?? '', new RegExp(connectionId));
    const imported = table.getByRole('row').filter({ hasText: 'Map imported' });
    for (const { name } of rows) await imported.filter({ hasText: name }).waitFor();
    await page.getByLabel('What', { exact: true }).selectOption('Mapping added or changed');
  });

  test('a filter that the service refuses is said in its words [WEB-57]', async (t) => {
    const { page } = await web.open(t, '/audit?since=yesterday', { expected: /400|yesterday/ });
    await page.getByRole('heading', { name: 'This could not be read' }).waitFor();
    await page.getByRole('alert').getByText(/since/).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'This could not be read' }).waitFor({ state: 'detached' });
  });
});
