import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { signInAtConsole } from '../../../../test-support/service/console.ts';
import {
  addAuthenticator,
  goBackInVain,
  NO_BROWSER,
  useConsole,
} from '../../../../test-support/service/console-page.ts';
import { codesOf } from '../../../../test-support/sign-in/second-factor.ts';
import {
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
  type SignInTenant,
} from '../../../../test-support/sign-in/sign-in.ts';

describe('my account', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  let tenant: SignInTenant;
  before(async () => {
    tenant = await addTenant(web.api.database);
  });

  async function person() {
    const deps = { database: web.api.database, passwords: cheapPasswords() };
    const account = await addAccount(deps, tenant, { userType: 'STAFF' });
    return { ...account, organisationId: tenant.organisationId };
  }

  test('the password is changed; a wrong one is said; other sessions are listed, and end [WEB-54, WEB-62, SIGN-IN-76]', async (t) => {
    const account = await person();
    const other = await signInAtConsole(web.api, account as never);
    const { page } = await web.open(t, '/my-account', { signedOut: true, expected: /40[013]/ });
    await signIn(page, account.email);
    await page.getByRole('cell').getByText('This one').waitFor();
    const [end, ...more] = await page
      .getByRole('button', { name: /^End the session of a browser, last used \d/ })
      .all();
    assert.equal(more.length, 0);
    await end?.click();
    await page.getByText('The session has ended.').waitFor();
    assert.equal((await other.call('/session')).status, 401);
    await page.getByRole('textbox', { name: 'Password until now' }).fill('not the right one');
    await page.getByRole('textbox', { name: 'New password' }).fill('seven green ladders');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is wrong. Type the one that you sign in with now.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, 'it stands at the field');
    await page.getByRole('textbox', { name: 'Password until now' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed.').waitFor();
  });

  test('a change of the own password whose answer is lost may be made, and that is said [WEB-54, WEB-80]', async (t) => {
    const account = await person();
    const { page } = await web.open(t, '/my-account', {
      signedOut: true,
      expected: /401|ERR_CONNECTION_RESET/,
    });
    await signIn(page, account.email);
    await page.route('**/console/api/session/password', (route) => route.abort('connectionreset'));
    await page.getByRole('textbox', { name: 'Password until now' }).fill(PASSWORD);
    await page.getByRole('textbox', { name: 'New password' }).fill('seven green ladders');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').getByText('It may have done this all the same').waitFor();
  });

  test('who has more sessions than are listed is told so [WEB-54, SIGN-IN-77]', async (t) => {
    const account = await person();
    await web.api.database.pool.query(
      `insert into session (organisation_id, id, account_id, created_at, expires_at)
       select $1, gen_random_uuid(), $2, now() - interval '1 day', now() + interval '1 day'
       from generate_series(1, 1000)`,
      [tenant.organisationId, account.userId],
    );
    const { page } = await web.open(t, '/my-account', { signedOut: true, expected: /401/ });
    await signIn(page, account.email);
    await page.getByText('only the 1,000 that began last are listed').waitFor();
  });

  test('an app and a passkey are added and removed; codes are shown once, and made anew [WEB-51, WEB-54]', async (t) => {
    const account = await person();
    const { page } = await web.open(t, '/my-account', {
      signedOut: true,
      atLocalhost: true,
      expected: /40[013]/,
    });
    await addAuthenticator(page);
    await signIn(page, account.email);
    const dialog = page.getByRole('dialog');
    const giveWrongPassword = async () => {
      await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill('not the right one');
      await dialog.getByRole('button', { name: 'Continue' }).click();
      await dialog.getByRole('alert').waitFor();
    };
    const givePassword = async () => {
      await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Continue' }).click();
    };
    await page.getByRole('button', { name: 'Set up an app' }).click();
    await giveWrongPassword();
    await givePassword();
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await dialog.getByLabel('The code that the app then shows').fill(codesOf(web.api, secret)());
    await page.keyboard.press('Enter');
    await dialog.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    const first = await dialog.getByRole('listitem').first().textContent();
    await dialog.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 of ten are left').waitFor();

    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await dialog.getByLabel('Name of the passkey').fill('laptop');
    await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Create the passkey' }).click();
    await page.getByRole('listitem').getByText('laptop').waitFor();

    await page.getByRole('button', { name: 'Make new codes' }).click();
    await givePassword();
    await dialog.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    assert.notEqual(await dialog.getByRole('listitem').first().textContent(), first);
    await dialog.getByRole('button', { name: 'I have kept them' }).click();

    await page.getByRole('button', { name: 'Remove: Authenticator app' }).click();
    await givePassword();
    await page.getByRole('button', { name: 'Set up an app' }).waitFor();
    await page.getByRole('button', { name: 'Remove: laptop' }).click();
    await givePassword();
    await page.getByText('They come with your first second factor.').waitFor();
  });

  test('recovery codes are shown also to who leaves the dialog, and goes back, before they come: the factor counts already [WEB-51, WEB-77]', async (t) => {
    const account = await person();
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401/ });
    await signIn(page, account.email, 'Overview');
    await page.getByRole('link', { name: 'My account' }).first().click();
    await page.getByRole('button', { name: 'Set up an app' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await dialog.getByLabel('The code that the app then shows').fill(codesOf(web.api, secret)());
    const left = Promise.withResolvers<void>();
    await page.route('**/second-factor/totp/confirm', async (route) => {
      const response = await route.fetch();
      await left.promise;
      await route.fulfill({ response });
    });
    const sent = page.waitForRequest('**/second-factor/totp/confirm');
    await page.keyboard.press('Enter');
    await sent;
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await goBackInVain(page);
    left.resolve();
    await dialog.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    await goBackInVain(page);
    assert.equal(await dialog.getByRole('listitem').count(), 10);
    await dialog.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 of ten are left').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('at another address than that of the service, the console says where passkeys work [WEB-51]', async (t) => {
    const account = await person();
    const { page } = await web.open(t, '/my-account', { signedOut: true, expected: /401/ });
    await signIn(page, account.email);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill('laptop');
    await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Create the passkey' }).click();
    const { port } = new URL(web.api.origin);
    await dialog.getByText(`Open the console at http://localhost:${port}/console/`).waitFor();
  });

  test('whoever closes the dialog while the browser asks for a passkey makes none, and can leave the page [WEB-51, WEB-77]', async (t) => {
    const account = await person();
    const { page } = await web.open(t, '/my-account', {
      signedOut: true,
      atLocalhost: true,
      expected: /401/,
    });
    await signIn(page, account.email);
    await addAuthenticator(page, { answers: false });
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill('laptop');
    await dialog.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await page.evaluate(`(() => {
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = (options) => {
        document.body.dataset.asked = '';
        return create(options);
      };
    })()`);
    await dialog.getByRole('button', { name: 'Create the passkey' }).click();
    await page.locator('body[data-asked]').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });
});

async function signIn(page: Page, email: string, heading = 'My account'): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}
