/** Deliveries in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/console-page.ts';
import { connect, insertPatients, queue } from '../../../../test-support/exchange-records.ts';

describe('exchange', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  const web = useConsole();

  test('an empty list says when it will not be; filters are in the address [WEB-10]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
    await page.getByLabel('State').selectOption('held');
    await page.waitForURL('**/console/exchange?status=held');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  });

  test('rows are read page by page as they come into view, and only those in view are drawn [WEB-10]', async (t) => {
    const { api } = web;
    const tenant = await api.createTenant({ timeZone: 'Europe/Paris' });
    const pool = api.database.pool;
    await connect({ pool, keys: api.keys }, tenant, { address: 'https://exchange.example.org/patients' });
    await queue(pool, tenant, await insertPatients(pool, tenant, 120));
    const { page } = await web.open(t, '/exchange', { tenant });
    await page.getByText('50 rows so far').waitFor();
    const last = page.locator('tr[data-index="119"]');
    for (let step = 0; step < 20 && (await last.count()) === 0; step += 1) {
      await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
      await page.waitForLoadState('networkidle');
    }
    await last.getByText('Queued').waitFor();
    await page.getByText('120 rows', { exact: true }).waitFor();
    assert.ok((await page.locator('tbody tr').count()) < 60, 'rows out of view are not in the document');
  });

  test('what the service refuses is said in its words, with a way to try again', async (t) => {
    const { page } = await web.open(t, '/exchange?since=yesterday', { expected: /400|yesterday/ });
    await page.getByRole('heading', { name: 'This could not be read' }).waitFor();
    await page.getByRole('alert').getByText(/since/).waitFor();
    await page.getByText('For the operator, the correlation id:').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  });
});
