/** Two tabs of one browser, which share the session. In a real browser. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Tenant } from '../../../test-support/service/api.ts';
import { NO_BROWSER, signIn, useConsole } from '../../../test-support/service/console-page.ts';

describe('two tabs', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const nameOf = (page: Page) => page.getByLabel('Name', { exact: true });

  /** Somebody has begun a role in one tab, and looks at another page in the other. */
  async function openTwo(t: TestContext) {
    const tenant = await web.api.createTenant();
    const { page, account } = await web.open(t, '/roles/new', { tenant, expected: /401/ });
    const other = await page.context().newPage();
    await goTo(other, '/my-account');
    await other.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
    await nameOf(page).fill('Night shift');
    await page.getByRole('checkbox', { name: 'Manage roles', exact: true }).check();
    return { page, other, account, tenant };
  }

  async function goTo(tab: Page, path: string) {
    await tab.goto(`${web.api.origin}/console${path}`);
  }

  async function signOut(tab: Page, email: string) {
    await tab.getByRole('button', { name: email }).click();
    await tab.getByRole('menuitem', { name: 'Sign out' }).click();
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
  }

  /** Another person signs in in the other tab, and finds the same page here, with nothing typed. */
  async function letAnotherIn({ page, other, tenant }: { page: Page; other: Page; tenant: Tenant }) {
    const next = await web.api.createAccount(tenant, { userType: 'STAFF' });
    await signIn(page, web.api, next);
    await goTo(other, '/my-account');
    await page.getByRole('button', { name: next.email }).waitFor();
    assert.equal(await nameOf(page).inputValue(), '');
    assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0);
  }

  test('who signs out in one tab is out in all at once; what was typed is there again for the same person alone [WEB-5, WEB-79]', async (t) => {
    const { page, other, account, tenant } = await openTwo(t);
    await signOut(other, account.email);
    await page.getByText('What you typed is still there, and not saved yet.').waitFor();
    assert.equal(await nameOf(page).isVisible(), false);
    await signIn(page, web.api, account);
    await goTo(other, '/my-account');
    await nameOf(page).waitFor();
    assert.equal(await nameOf(page).inputValue(), 'Night shift');
    await signOut(other, account.email);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await letAnotherIn({ page, other, tenant });
  });

  test('another person signs in in another tab: what somebody was typing here is gone at once [WEB-5, WEB-79]', async (t) => {
    await letAnotherIn(await openTwo(t));
  });

  test('the same person gets a new session in another tab: what is typed here stays, and is saved [WEB-5]', async (t) => {
    const { page, other, account } = await openTwo(t);
    web.api.clock.now = new Date(web.api.clock.now.getTime() + 60_000);
    const read = page.waitForResponse('**/console/api/session');
    await signIn(page, web.api, account);
    await goTo(other, '/my-account');
    await (await read).finished();
    assert.equal(await nameOf(page).inputValue(), 'Night shift');
    await page.getByRole('button', { name: 'Create the role' }).click();
    await page.getByRole('heading', { name: 'Night shift', level: 1 }).waitFor();
  });
});
