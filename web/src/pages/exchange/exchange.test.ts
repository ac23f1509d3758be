/** Deliveries in the console, in a real browser. */
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/console-page.ts';

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
});
