/** What people do before they are in: second factors and new passwords. In a real browser. */
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { signInAtConsole } from '../../../test-support/service/console.ts';
import {
  addAuthenticator,
  NO_BROWSER,
  signIn,
  useConsole,
} from '../../../test-support/service/console-page.ts';
import { addTelephone, codesOf } from '../../../test-support/sign-in/second-factor.ts';
import {
  type AccountFixture,
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
  type SignInTenant,
} from '../../../test-support/sign-in/sign-in.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';

const NEW_PASSWORD = 'seven green ladders';

describe('sign-in', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  let tenant: SignInTenant;
  before(async () => {
    tenant = await addTenant(web.api.database);
  });

  async function person(options: AccountFixture = {}, at = tenant) {
    const account = await addAccount({ database: web.api.database, passwords: cheapPasswords() }, at, {
      userType: 'STAFF',
      ...options,
    });
    return { ...account, organisationId: at.organisationId };
  }

  test('after the password, a code of the app or a recovery code; a wrong one is said [WEB-50]', async (t) => {
    const account = await person();
    const telephone = await addTelephone(web.api, await signInAtConsole(web.api, account as never));
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401|403/ });
    await fillSignIn(page, account.email);
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
    await page.getByLabel('Code of six digits').fill('000000');
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByRole('alert').getByText('Take the next code, or try another way.').waitFor();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(telephone.recoveryCodes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await signOut(page);
    await fillSignIn(page, account.email);
    await page.getByLabel('Code of six digits').fill(telephone.code(1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('whose browser keeps no cookie is told so, and what the service does not answer is said', async (t) => {
    const { email } = await person();
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401|503/ });
    const session = '**/console/api/session';
    await page.route(session, async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      const response = await route.fetch();
      await page.context().clearCookies();
      const { 'set-cookie': _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    await fillSignIn(page, email);
    await page.getByRole('alert').getByText('The browser did not keep your sign-in.').waitFor();
    await page.unroute(session);
    await page.route(session, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await fillSignIn(page, email);
    await page.getByRole('alert').getByText('The service answered 503').waitFor();
    await page.unroute(session);
    await fillSignIn(page, email);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('who has locked the account is told how long to wait, and who can help', async (t) => {
    const { email } = await person();
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401|403|429/ });
    await page.getByText('Forgot your password? An administrator').waitFor();
    const locked = page.getByRole('alert').getByText(/Wait \d+ minutes?, .* An administrator can unlock/);
    const wrong = page.getByRole('alert').getByText('The email or the password is wrong');
    while (!(await locked.isVisible())) {
      const answer = page.waitForResponse((response) => response.request().method() === 'POST');
      await fillSignIn(page, email, 'not the right one');
      await answer;
      await locked.or(wrong).waitFor();
    }
  });

  test('a role that asks for a second factor has one set up at the first sign-in: an app [WEB-51]', async (t) => {
    const strict = await addTenant(web.api.database);
    await requireSecondFactor(strict);
    const account = await person({}, strict);
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401|403/ });
    await fillSignIn(page, account.email);
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await page.getByRole('button', { name: /^Authenticator app/ }).click();
    await page.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await page.getByLabel('The code that the app then shows').fill('000000');
    await page.getByRole('button', { name: 'Confirm the app' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('The code that the app then shows').fill(codesOf(web.api, secret)());
    await page.getByRole('button', { name: 'Confirm the app' }).click();
    await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    assert.equal(await page.getByRole('listitem').count(), 10);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as a file' }).click();
    assert.equal((await download).suggestedFilename(), 'interchange-recovery-codes.txt');
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('a passkey is set up, and signs in [WEB-50, WEB-51]', async (t) => {
    const { page, account } = await setUpPasskey(t);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await signOut(page);
    await fillSignIn(page, account.email);
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.locator('h1:focus').waitFor();
    await page.getByRole('button', { name: 'Continue with a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('recovery codes stay until they are kept, also after a look at another tab [WEB-51]', async (t) => {
    const { page } = await setUpPasskey(t);
    await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
    const read = page.waitForResponse('**/console/api/session');
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
    await (await read).finished();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    assert.equal(await page.getByRole('listitem').count(), 10);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('recovery codes are not shown to who comes after the person has signed out in another tab [WEB-51, WEB-79]', async (t) => {
    const { page } = await setUpPasskey(t);
    await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await signOut(other);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.getByRole('listitem').count(), 0);
  });

  test('a system’s password is changed without a sign-in, at the address that the refusal names [WEB-52, WEB-53]', async (t) => {
    const account = await person({ userType: 'EHR', mustChangePassword: true });
    const identity = { identity: account.userId, userType: 'EHR' };
    const login = (credential: string) => web.api.call('/auth/login', { body: { ...identity, credential } });
    const { accessToken: token } = (await login(PASSWORD)).json;
    const refused = await web.api.call('/patients/base', { token });
    const address = /http\S+/.exec(refused.json.message)?.[0] ?? '';
    assert.match(address, /^http:\/\/localhost:\d+\/console\/change-password$/);
    const { page } = await web.open(t, '/', { signedOut: true, atLocalhost: true, expected: /40[013]/ });
    await page.goto(address.replace(/localhost:\d+/, new URL(page.url()).host));
    await page.getByLabel('Email of the account').fill(account.email);
    await page.getByRole('textbox', { name: 'Password until now' }).fill('not the right one');
    await page.getByRole('textbox', { name: 'New password' }).fill('password1234');
    await page.getByText('The password is one of the most common ones.').waitFor();
    await page.getByRole('textbox', { name: 'New password' }).fill(NEW_PASSWORD);
    await page.getByText('Good: long, and not a common one.').waitFor();
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page
      .getByRole('alert')
      .getByText('The email, the password until now or the kind of account is wrong')
      .waitFor();
    await page.getByRole('textbox', { name: 'Password until now' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('heading', { name: 'The password is changed' }).waitFor();
    assert.equal((await login(NEW_PASSWORD)).status, 200);
  });

  test('who must change the password does so first; while typing it says what the service would [WEB-53]', async (t) => {
    const account = await person({ mustChangePassword: true });
    const { page } = await web.open(t, '/', { signedOut: true, expected: /40[013]/ });
    await fillSignIn(page, account.email);
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    const field = page.getByRole('textbox', { name: 'New password' });
    await field.fill('short');
    await page.getByText('7 more characters.').waitFor();
    await field.fill('password1234');
    await page.getByText('The password is one of the most common ones.').waitFor();
    await field.fill(account.email);
    await page.getByText('The password must not be the email address.').waitFor();
    await field.fill(NEW_PASSWORD);
    await page.getByText('Good: long, and not a common one.').waitFor();
    await page.getByRole('textbox', { name: 'Password until now' }).fill(PASSWORD);
    await field.fill(PASSWORD);
    await page.getByText('The new password must differ from the old one.').first().waitFor();
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The new password must differ from the old one.').nth(1).waitFor();
    await field.fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('a sign-out that fails before the sign-in is finished is told so, and leads nowhere [WEB-5]', async (t) => {
    const { email } = await person({ mustChangePassword: true });
    const { page } = await web.open(t, '/', { signedOut: true, expected: /401|ERR_CONNECTION_RESET/ });
    await fillSignIn(page, email);
    const leave = page.getByRole('button', { name: 'Sign out' });
    await leave.waitFor();
    await page.route('**/console/api/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort('connectionreset') : route.continue(),
    );
    await leave.click();
    const notice = page.getByText('You are still signed in: the service did not answer.');
    await notice.waitFor();
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await page.unrouteAll();
    await leave.click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await notice.count(), 0);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a password that is typed is shown by a button, which the keyboard reaches, in the language of the page [WEB-8]', async (t) => {
    const { page } = await web.open(t, '/', { signedOut: true, language: 'fr', expected: /401/ });
    const password = page.getByRole('textbox', { name: 'Mot de passe' });
    await password.fill(PASSWORD);
    await page.keyboard.press('Tab');
    await page
      .getByRole('button', { name: 'Afficher le mot de passe' })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Afficher le mot de passe', pressed: true }).waitFor();
    assert.equal(await password.getAttribute('type'), 'text');
  });

  test('what is typed when the session ends is still there after the sign-in, for this person alone [WEB-5]', async (t) => {
    const at = await managers();
    const [account, other] = [await person({}, at), await person({}, at)];
    const { page } = await web.open(t, '/roles/new', { signedOut: true, expected: /40[13]/ });
    await fillSignIn(page, account.email);
    const name = page.getByLabel('Name', { exact: true });
    const ended = page.getByText('What you typed is still there, and not saved yet.');
    for (const turn of ['the same', 'another']) {
      await name.fill('Night shift');
      await page.getByRole('checkbox', { name: 'Manage roles', exact: true }).check();
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Create the role' }).click();
      await ended.waitFor();
      assert.equal(await name.isVisible(), false);
      await fillSignIn(page, turn === 'the same' ? account.email : other.email);
      await page.locator('h1:focus').filter({ hasText: 'New role' }).waitFor();
      assert.equal(await name.inputValue(), turn === 'the same' ? 'Night shift' : '', turn);
      assert.equal(await page.getByRole('alert').count(), 0);
    }
  });

  test('a call of the session before that is answered late does not sign out who is signed in by now [WEB-5]', async (t) => {
    const { page, account } = await web.open(t, '/audit', { expected: /401/ });
    // Nothing that the page itself reads is answered after the cookie is gone.
    await page.getByRole('table').waitFor();
    const late = Promise.withResolvers<void>();
    await page.route('**/console/api/roles?*', async (route) => {
      const response = await route.fetch();
      await late.promise;
      await route.fulfill({ response });
    });
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, web.api, account);
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    const own = page.getByRole('heading', { name: 'My account', level: 1 });
    await own.waitFor();
    const look = page.waitForResponse('**/console/api/session');
    late.resolve();
    await (await look).finished();
    await own.waitFor();
  });

  test('a notice of the session before is gone after the sign-in [WEB-5]', async (t) => {
    const { page, account } = await web.open(t, '/audit', { expected: /401/ });
    await page.getByRole('table').waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    await page.context().clearCookies();
    await page.getByRole('menuitem').first().click();
    const notice = page.getByText('The export failed.');
    await notice.waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, web.api, account);
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    assert.equal(await notice.count(), 0);
  });

  test('a dialog that is filled when the session ends is there after the sign-in; a password that is typed is not [WEB-5]', async (t) => {
    const account = await person({}, await managers());
    const { page } = await web.open(t, '/people', { signedOut: true, expected: /40[13]/ });
    await fillSignIn(page, account.email);
    await page.getByRole('main').getByRole('button', { name: 'New person' }).first().click();
    const email = page.getByRole('dialog').getByLabel('Email');
    await email.fill('nurse@example.org');
    await endSession(page);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 640, height: 300 });
    await page.mouse.wheel(0, 200);
    await waitUntil(async () => Number(await page.evaluate('scrollY')) > 0, 'the sign-in scrolls');
    await page.setViewportSize({ width: 1280, height: 900 });
    await fillSignIn(page, account.email);
    await email.and(page.locator(':focus')).waitFor();
    assert.equal(await email.inputValue(), 'nurse@example.org');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'My account' }).click();
    const password = page.getByRole('textbox', { name: 'Password until now' });
    await password.fill(PASSWORD);
    await endSession(page);
    await page.getByText('Your session has ended. Sign in, and you are back on this page.').waitFor();
    assert.equal(await password.count(), 0);
  });

  /** Somebody whose role asks for a second factor, at the first sign-in. */
  async function setUpPasskey(t: TestContext) {
    const strict = await addTenant(web.api.database);
    await requireSecondFactor(strict);
    const account = await person({}, strict);
    const { page } = await web.open(t, '/', { signedOut: true, atLocalhost: true, expected: /401/ });
    await addAuthenticator(page);
    await fillSignIn(page, account.email);
    await page.getByRole('button', { name: /^Passkey/ }).click();
    await page.getByLabel('Name of the passkey').fill('laptop');
    await page.getByRole('textbox', { name: 'Your password, once more' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the passkey' }).click();
    return { page, account };
  }

  /** A tenant whose people manage people and roles. */
  async function managers(): Promise<SignInTenant> {
    const made = await addTenant(web.api.database);
    await web.api.database.pool.query(
      `update role set permissions = '{encounters.access,people.manage,roles.manage}' where organisation_id = $1`,
      [made.organisationId],
    );
    return made;
  }

  async function requireSecondFactor({ organisationId }: SignInTenant): Promise<void> {
    await web.api.database.pool.query(
      'update role set requires_second_factor = true where organisation_id = $1',
      [organisationId],
    );
  }
});

async function fillSignIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** The service ended it; the page finds that out when somebody looks at it. */
async function endSession(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
}
