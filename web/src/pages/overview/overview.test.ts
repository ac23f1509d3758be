import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { seedRecords } from '../../../../test-support/records/seed-tenant.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('overview', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  const web = useConsole();

  test('a new organisation is told its first three steps; nothing that needs anybody is said [WEB-55]', async (t) => {
    const { page } = await web.open(t, '/');
    await page.getByRole('heading', { name: 'The first three steps' }).waitFor();
    await page.getByRole('heading', { name: 'Nothing needs you now' }).waitFor();
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.waitForURL('**/console/imports');
    await page.goBack();
    await page.getByRole('heading', { name: 'The first three steps' }).waitFor();
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
    await page.getByRole('heading', { name: 'Imports that did not go in' }).waitFor();
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
