/** People in the console, in a real browser. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { TestAccount } from '../../../../test-support/service/api.ts';
import { openBrowser } from '../../../../test-support/service/console.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';
import { addTelephone } from '../../../../test-support/sign-in/second-factor.ts';

describe('people', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('lists people and whether they have a second factor, and adds one by a setup link [WEB-25]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const system = await web.api.createAccount(tenant, { userType: 'EHR' });
    const { page, account } = await web.open(t, '/people', { tenant });
    const { json: role } = await web.api.call('/roles', {
      token: account.token,
      body: { name: 'Laboratory head', permissions: ['investigations.lab.list'] },
    });
    const row = page.getByRole('row').filter({ hasText: account.email });
    await row.getByText('None').waitFor();
    const own = await web.api.call(`/accounts/${account.userId}`, { token: account.token });
    await row.getByRole('cell', { name: own.json.role.name }).waitFor();
    assert.equal(await page.getByText(system.email).count(), 0);
    await page.getByRole('button', { name: 'New person' }).click();
    const email = `head-${randomUUID()}@example.org`;
    const dialog = page.getByRole('dialog', { name: 'New person' });
    const hints = '[role="dialog"] [class*="-description"]';
    await page.locator(hints).first().waitFor();
    const sizes = await page.evaluate(
      `[...document.querySelectorAll('${hints}')].map((hint) => getComputedStyle(hint).fontSize)`,
    );
    assert.deepEqual([...new Set(sizes as string[])], ['13px']);
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Role').selectOption(role.id);
    assert.equal(await dialog.getByLabel('It must be changed').isChecked(), true);
    await dialog.getByRole('radio', { name: 'Make a setup link' }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('/console/set-password#token=').waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { name: email }).waitFor();
    await page.getByText('Has no password yet').waitFor();
    const userId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page
      .locator('dd')
      .filter({ hasText: userId })
      .getByRole('button', { name: 'Copy: User id' })
      .waitFor();
    await page.locator('dd').getByRole('link', { name: 'Laboratory head' }).waitFor();
    assert.equal(await page.getByText('Quick start for the partner').count(), 0);
  });

  test('a change whose answer is lost may be made: that is said, and what is shown is read again [WEB-75, WEB-80]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page } = await web.open(t, '/people', {
      tenant,
      expected: /ERR_CONNECTION_RESET|ERR_INTERNET_DISCONNECTED|504/,
    });
    await page.getByRole('main').getByRole('button', { name: 'New person' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill('nurse@example.org');
    await dialog.getByLabel('Role').selectOption({ index: 1 });
    const create = dialog.getByRole('button', { name: 'Create' });
    const isSaid = (words: string) => dialog.getByRole('alert').getByText(words).waitFor();
    await page.context().setOffline(true);
    await create.click();
    await isSaid('The service cannot be reached.');
    await page.context().setOffline(false);
    await page.route('**/console/api/accounts', (route) =>
      route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>Gateway Timeout</h1>' }),
    );
    await create.click();
    await isSaid('It may have done this all the same');
    assert.equal(await page.getByText('nurse@example.org').count(), 0);
    await page.route('**/console/api/accounts', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await create.click();
    await page.getByRole('table').getByText('nurse@').waitFor();
    await isSaid('It may have done this all the same');
    await page.keyboard.press('Escape');
  });

  test('an account that is enabled, and the answer is lost: that is said, and the account is shown as it is now [WEB-22, WEB-80]', async (t) => {
    const tenant = await web.api.createTenant();
    const { userId } = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const { page } = await web.open(t, `/people/${userId}`, { tenant, expected: /ERR_CONNECTION_RESET/ });
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.route('**/console/api/accounts/*/enable', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('It may have done this all the same').waitFor();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
  });

  /** The page of one person, then that of another, and back to the first without the list between them. */
  async function betweenTwo(t: TestContext, onOther: (page: Page) => Promise<void>) {
    const tenant = await web.api.createTenant();
    const disabled = async () => {
      const account = await web.api.createAccount(tenant, { userType: 'STAFF' });
      await web.api.database.pool.query('update account set disabled_at = now() where id = $1', [
        account.userId,
      ]);
      return account;
    };
    const [one, other] = [await disabled(), await disabled()];
    const { page } = await web.open(t, `/people/${one.userId}`, { tenant });
    const isAt = ({ email }: TestAccount) => page.getByRole('heading', { name: email, level: 1 }).waitFor();
    await isAt(one);
    await page.getByRole('main').getByRole('link', { name: 'People' }).click();
    await page.getByRole('link', { name: other.email }).click();
    await isAt(other);
    await onOther(page);
    await page.evaluate('history.go(-2)');
    await isAt(one);
    return { page, one, other };
  }

  test('the palette enables the person whose page it is [WEB-9, WEB-22]', async (t) => {
    const { page, one, other } = await betweenTwo(t, async () => undefined);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('enable');
    await page.keyboard.press('Enter');
    await page.getByText('can sign in again.').waitFor();
    const { rows } = await web.api.database.pool.query(
      'select id from account where id = any($1) and disabled_at is null',
      [[one.userId, other.userId]],
    );
    assert.deepEqual(rows, [{ id: one.userId }]);
  });

  test('a form about one person is not on the page of another [WEB-22]', async (t) => {
    const { page } = await betweenTwo(t, async (at) => {
      await at.getByRole('button', { name: 'Change', exact: true }).click();
      await at.getByRole('dialog').waitFor();
    });
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('the state of an account is no wider than its column [WEB-25]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await web.api.createAccount(tenant, { userType: 'STAFF', mustChangePassword: true });
    for (const language of [undefined, 'fr'] as const) {
      const { page } = await web.open(t, '/people', { tenant, ...(language && { language }) });
      await page.getByRole('cell', { name: /^(Must change password|Mot de passe à changer)$/ }).waitFor();
      const tooWide = await page.evaluate(
        "[...document.querySelectorAll('td')].filter((cell) => cell.scrollWidth > cell.clientWidth).length",
      );
      assert.equal(tooWide, 0);
    }
  });

  test('nobody disables the account that they are signed in with [WEB-25]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page, account } = await web.open(t, '/people', { tenant, expected: /409/ });
    await page.getByRole('link', { name: account.email }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    const question = page.getByRole('dialog', { name: `Disable ${account.email}?` });
    await question.getByRole('button', { name: 'Disable' }).click();
    await question
      .getByRole('alert')
      .getByText(/own account/)
      .waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('It can sign in.').waitFor();
  });

  test('removes the second factor of a person who lost it, after a question [WEB-28]', async (t) => {
    const { api } = web;
    const tenant = await api.createTenant({ timeZone: 'Europe/Paris' });
    const admin = await api.createAccount(tenant, { userType: 'STAFF' });
    const call = (path: string, body: object) => api.call(path, { token: admin.token, body });
    const role = await call('/roles', { name: 'Reader', permissions: ['patients.patients.list'] });
    const email = `lost-${randomUUID()}@example.org`;
    const { json } = await call('/accounts', { email, userType: 'STAFF', roleId: role.json.id });
    const browser = openBrowser(api);
    await browser.call('/session', { body: { email, password: json.password } });
    await addTelephone(api, browser, json.password);
    const { page } = await web.open(t, `/people/${json.userId}`, { tenant });
    await page.getByText('is asked for at each sign-in').waitFor();
    await page.getByRole('button', { name: 'Remove second factor' }).click();
    await page.getByRole('dialog').getByText('Be sure that it is they who ask').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(`The second factor of ${email} is removed.`).waitFor();
    await page.getByText('A role can ask for one.').waitFor();
    await page.getByRole('button', { name: 'Remove second factor' }).waitFor({ state: 'detached' });
  });
});
