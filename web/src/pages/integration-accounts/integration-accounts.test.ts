/** Integration accounts in the console, in a real browser. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { TestAccount } from '../../../../test-support/service/api.ts';
import { goBackInVain, NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('integration accounts', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  const addRole = async (account: TestAccount, name: string, permissions: readonly string[]) => {
    const { json } = await web.api.call('/roles', {
      token: account.token,
      body: { name, permissions },
    });
    return json.id as string;
  };

  /** An integration account and a person who manages it, in a tenant of their own. */
  const managed = async () => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const admin = await web.api.createAccount(tenant, { userType: 'STAFF' });
    const reader = await addRole(admin, 'Reader', ['patients.patients.list']);
    const system = await web.api.createAccount(tenant, { userType: 'EHR', permissions: [] });
    return { tenant, admin, reader, system, path: `/integration-accounts/${system.userId}` };
  };

  test('creates an account, says what is wrong before, and shows the password once [WEB-21]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const admin = await web.api.createAccount(tenant, { userType: 'STAFF' });
    await addRole(admin, 'Laboratory partner', ['patients.patients.list']);
    const { page } = await web.open(t, '/integration-accounts', { tenant, expected: /409/ });
    await page
      .getByRole('heading', { name: 'No other system has an account at your facilities yet' })
      .waitFor();
    await page.getByRole('button', { name: 'New integration account' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New integration account' });
    await dialog.getByLabel('Email').fill(admin.email);
    await dialog.getByLabel('Role').selectOption({ label: 'Laboratory partner' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/exists/).waitFor();
    const email = `ris-${randomUUID()}@example.org`;
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const once = page.getByRole('dialog', { name: `How ${email} signs in` });
    const password = (await once.locator('code').first().textContent()) ?? '';
    assert.ok(password.length >= 12, password);
    const userId = (await once.locator('code').nth(1).textContent()) ?? '';
    const link = once.getByRole('link', { name: 'the page of the account' });
    assert.equal(await link.getAttribute('href'), `/console/integration-accounts/${userId}`);
    await once.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { name: email }).waitFor();
    await page.getByRole('heading', { name: 'Quick start for the partner' }).waitFor();
    assert.equal((await page.content()).includes(password), false);
    const { status } = await web.api.call('/auth/login', {
      body: { identity: page.url().split('/').at(-1), credential: password, userType: 'EHR' },
    });
    assert.equal(status, 200);
  });

  test('how an account signs in is shown, also where the lists are not answered then [WEB-21, WEB-22]', async (t) => {
    const { tenant, path } = await managed();
    /** Nothing that is read from now on is answered. */
    const leaveUnanswered = (page: Page) =>
      page.route(/\/api\/(accounts|roles|overview)/, (route) =>
        route.request().method() === 'GET' ? undefined : route.continue(),
      );
    const keep = async (page: Page) => {
      const once = page.getByRole('dialog', { name: /^How .* signs in$/ });
      await once.locator('code').first().waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.reload();
    };
    const { page } = await web.open(t, path, { tenant });
    await page.getByRole('button', { name: 'Reset password' }).click();
    const reset = page.getByRole('dialog', { name: /^Reset the password/ });
    await leaveUnanswered(page);
    await reset.getByRole('button', { name: 'Reset' }).click();
    await keep(page);
    await page.getByRole('link', { name: 'Integration accounts' }).first().click();
    await page.getByRole('button', { name: 'New integration account' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New integration account' });
    await dialog.getByLabel('Email').fill(`ris-${randomUUID()}@example.org`);
    await dialog.getByLabel('Role').selectOption({ label: 'Reader' });
    await leaveUnanswered(page);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await keep(page);
  });

  test('going back asks before what is typed into a dialog is lost [WEB-76]', async (t) => {
    const { tenant, system } = await managed();
    const { page } = await web.open(t, '/roles', { tenant });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    for (const [link, button] of [
      ['Integration accounts', 'New integration account'],
      [system.email, 'Change'],
      ['Exchange', undefined],
      ['Connections', 'Connect to an exchange'],
    ] as const) {
      await page.getByRole('link', { name: link, exact: true }).click();
      if (button === undefined) continue;
      await page.getByRole('button', { name: button }).first().click();
      const field = page
        .getByRole('dialog')
        .getByLabel(/^(Email|Name)/)
        .first();
      await field.fill(`new-${system.email}`);
      await page.evaluate('history.back()');
      await question.getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await field.inputValue(), `new-${system.email}`);
      await field.press('Escape');
      await field.waitFor({ state: 'detached' });
    }
  });

  test('going back while an account is created, or while its password is shown, loses no password [WEB-21, WEB-77]', async (t) => {
    const { tenant } = await managed();
    const { page } = await web.open(t, '/', { tenant });
    await page.getByRole('link', { name: 'Integration accounts' }).first().click();
    await page.getByRole('button', { name: 'New integration account' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New integration account' });
    const email = `ris-${randomUUID()}@example.org`;
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Role').selectOption({ label: 'Reader' });
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route(/\/api\/accounts$/, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      asked.resolve();
      await answer.promise;
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await asked.promise;
    await goBackInVain(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await goBackInVain(page);
    const told = page
      .locator('[role=status] > div:not([data-seen])')
      .getByText('This page waits for an answer');
    const isToldAnew = async () => {
      await told.first().waitFor();
      await page.evaluate(
        `for (const notice of document.querySelectorAll('[role=status] > div')) notice.dataset.seen = ''`,
      );
    };
    await isToldAnew();
    await page.getByRole('navigation').getByRole('link', { name: 'Roles' }).click();
    await isToldAnew();
    await page.getByRole('button', { name: /^Account: / }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await isToldAnew();
    const listIsRead = Promise.withResolvers<void>();
    await page.route(/\/api\/accounts\?/, async (route) => {
      await listIsRead.promise;
      await route.continue();
    });
    answer.resolve();
    const once = page.getByRole('dialog', { name: `How ${email} signs in` });
    await once.locator('code').first().waitFor();
    await goBackInVain(page);
    await once.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { name: email }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Integration accounts', level: 1 }).waitFor();
    listIsRead.resolve();
  });

  test('an account is created with the keyboard alone, from the palette on [WEB-9, WEB-21]', async (t) => {
    const { tenant } = await managed();
    const { page } = await web.open(t, '/', { tenant });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { keyboard } = page;
    /** A moment after it opens, a dialog takes the focus. */
    const takesFocus = (dialog: Locator) => dialog.locator(':focus').waitFor();
    const tabTo = async (locator: Locator) => {
      const isThere = () => locator.evaluate((element) => element === element.ownerDocument.activeElement);
      for (let pressed = 0; pressed < 30 && !(await isThere()); pressed += 1) await keyboard.press('Tab');
      assert.ok(await isThere(), 'the keyboard comes to it');
    };
    await keyboard.press('Control+k');
    await keyboard.type('integration acc');
    await page.getByRole('option', { name: 'Integration accounts' }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Integration accounts', level: 1 }).waitFor();
    await tabTo(page.getByRole('button', { name: 'New integration account' }));
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New integration account' });
    await dialog.getByLabel('Role').and(page.locator(':enabled')).waitFor();
    await takesFocus(dialog);
    await tabTo(dialog.getByLabel('Email'));
    await keyboard.type('keys@example.org');
    await tabTo(dialog.getByLabel('Role'));
    await keyboard.type('Reader');
    await tabTo(dialog.getByRole('button', { name: 'Create' }));
    await keyboard.press('Enter');
    const once = page.getByRole('dialog', { name: 'How keys@example.org signs in' });
    await takesFocus(once);
    await tabTo(once.getByRole('button', { name: 'I have kept it' }));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'keys@example.org', level: 1 }).waitFor();
    await page.locator('dd').getByText('Reader', { exact: true }).waitFor();
  });

  test('lists accounts with their role, state and last use, found by email and state [WEB-20]', async (t) => {
    const { tenant, admin, path, system } = await managed();
    const other = await web.api.createAccount(tenant, { userType: 'EHR', mustChangePassword: true });
    await web.api.call(`/accounts/${system.userId}/disable`, { token: admin.token, method: 'POST' });
    await web.api.database.pool.query(
      `update session set created_at = '2026-01-10T11:20:00Z' where organisation_id = $1 and account_id = $2`,
      [tenant.organisationId, other.userId],
    );
    const roleName = (await web.api.call(`/accounts/${other.userId}`, { token: admin.token })).json.role.name;
    const { page } = await web.open(t, '/integration-accounts', { tenant });
    const rows = page.getByRole('table', { name: 'Integration accounts' }).locator('tbody tr');
    await rows.filter({ hasText: system.email }).getByText('Disabled').waitFor();
    await rows.filter({ hasText: other.email }).getByText('Must change password').waitFor();
    assert.equal(await rows.count(), 2, 'people are not among them');
    const cellsOf = (email: string) => rows.filter({ hasText: email }).getByRole('cell').allTextContents();
    const [, , role, sessions, used = ''] = await cellsOf(other.email);
    assert.deepEqual([role, sessions], [roleName, '1']);
    assert.match(used, /^10 Jan 2026, 12:20 CET$/, 'in the time zone of the facility, and said so');
    assert.equal((await cellsOf(system.email))[3], '0', 'who is disabled has none');
    await page.getByLabel('Search by email').fill(system.email.slice(0, 20));
    await page.getByText(other.email).waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('active');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('State').selectOption('disabled');
    await page.getByRole('link', { name: system.email }).click();
    await page.waitForURL(`**/console${path}`);
    await page.getByRole('heading', { name: system.email }).waitFor();
  });

  test('changes the role, disables after a question, enables and resets [WEB-22]', async (t) => {
    const { tenant, admin, path, system } = await managed();
    const { page } = await web.open(t, path, { tenant });
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').getByLabel('Role').selectOption({ label: 'Reader' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It counts from the next call on.').waitFor();
    await page.locator('dd').getByText('Reader').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    const question = page.getByRole('dialog', { name: `Disable ${system.email}?` });
    await question.getByText('Its session ends at once').waitFor();
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('can sign in again').waitFor();
    await page.getByRole('button', { name: 'Reset password' }).click();
    await page.getByRole('radio', { name: 'Make a setup link' }).check();
    await page.getByRole('button', { name: 'Reset', exact: true }).click();
    await page.getByText(/\/set-password/).waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    const { json } = await web.api.call(`/accounts/${system.userId}`, { token: admin.token });
    assert.deepEqual([json.role.name, json.state], ['Reader', 'requires-setup']);
  });

  test('saving sends what was changed, and leaves what somebody else changed meanwhile [WEB-22]', async (t) => {
    const { tenant, admin, path, system } = await managed();
    const [taken, given] = [
      await web.api.createFacility(tenant.organisationId),
      await web.api.createFacility(tenant.organisationId),
    ];
    const facilityIds = [tenant.facilityId, taken, given];
    const { page, account } = await web.open(t, path, { tenant, facilityIds });
    const change = (body: object) =>
      web.api.call(`/accounts/${system.userId}`, { method: 'PATCH', token: account.token, body });
    assert.equal((await change({ facilityIds: [tenant.facilityId, taken] })).status, 200);
    await page.reload();
    await page.getByRole('button', { name: 'Change' }).click();
    const form = page.getByRole('dialog', { name: `Change ${system.email}` });
    await form
      .getByRole('checkbox', { name: 'Other Facility' })
      .and(page.locator(`[value="${given}"]`))
      .check();
    const email = `moved-${randomUUID()}@example.org`;
    assert.equal((await change({ facilityIds: [tenant.facilityId], email })).status, 200);
    await form.getByRole('button', { name: 'Save' }).click();
    // By its title no more: that has the new address before the form is saved.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: email, level: 1 }).waitFor();
    const { json } = await web.api.call(`/accounts/${system.userId}`, { token: admin.token });
    assert.deepEqual(
      [json.email, json.facilityIds.toSorted()],
      [email, [tenant.facilityId, given].toSorted()],
    );
  });

  test('a facility that is added leaves the default that somebody else chose meanwhile [WEB-22]', async (t) => {
    const { tenant, admin, path, system } = await managed();
    const [second, third] = [
      await web.api.createFacility(tenant.organisationId),
      await web.api.createFacility(tenant.organisationId),
    ];
    const facilityIds = [tenant.facilityId, second, third];
    const { page, account } = await web.open(t, path, { tenant, facilityIds });
    const change = (ids: string[]) =>
      web.api.call(`/accounts/${system.userId}`, {
        method: 'PATCH',
        token: account.token,
        body: { facilityIds: ids },
      });
    assert.equal((await change([tenant.facilityId, second])).status, 200);
    await page.reload();
    await page.getByRole('button', { name: 'Change' }).click();
    const form = page.getByRole('dialog', { name: `Change ${system.email}` });
    await form.locator(`[value="${third}"]`).check();
    assert.equal((await change([second, tenant.facilityId])).status, 200);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const { json } = await web.api.call(`/accounts/${system.userId}`, { token: admin.token });
    assert.deepEqual([json.defaultFacilityId, json.facilityIds.length], [second, 3]);
  });

  test('changes the email and the facilities together, and unlocks [WEB-22]', async (t) => {
    const { tenant, admin, path, system } = await managed();
    const other = await web.api.createFacility(tenant.organisationId);
    const { page } = await web.open(t, path, { tenant, facilityIds: [tenant.facilityId, other] });
    await page.getByRole('button', { name: 'Change' }).click();
    const form = page.getByRole('dialog', { name: `Change ${system.email}` });
    const email = `moved-${randomUUID()}@example.org`;
    await form.getByLabel('Email').fill(email);
    await form.getByRole('checkbox', { name: 'Other Facility' }).check();
    await form.getByLabel('Default facility').selectOption(other);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: email, level: 1 }).waitFor();
    const facilities = page.locator('dd').filter({ hasText: 'Other Facility (default)' });
    await facilities.filter({ hasText: 'Test Facility' }).waitFor();
    const { json } = await web.api.call(`/accounts/${system.userId}`, { token: admin.token });
    assert.deepEqual(
      [json.email, json.defaultFacilityId, [...json.facilityIds].sort()],
      [email, other, [tenant.facilityId, other].sort()],
    );
    assert.equal(await page.getByRole('button', { name: 'Unlock' }).count(), 0);
    const body = { identity: system.userId, credential: 'not the right one', userType: 'EHR' };
    const state = async () => (await web.api.call(`/accounts/${system.userId}`, { token: admin.token })).json;
    while (!(await state()).locked) await web.api.call('/auth/login', { body });
    await page.reload();
    await page.getByText('Too many sign-ins failed.').waitFor();
    await page.getByRole('button', { name: 'Unlock' }).click();
    await page.getByText('is unlocked, and can try again').waitFor();
    assert.equal((await state()).locked, false);
    await page.locator('h1:focus').waitFor();
  });

  test('a question stays until its answer is there, which is said in it [WEB-22]', async (t) => {
    const { tenant, path } = await managed();
    const { page } = await web.open(t, path, { tenant, expected: /500/ });
    const held = Promise.withResolvers<void>();
    await page.route('**/disable', async (route) => {
      await held.promise;
      const body = { statusCode: 500, message: 'It did not work.', error: 'Internal Server Error' };
      await route.fulfill({ status: 500, json: body });
    });
    await page.getByRole('button', { name: 'Disable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Disable' }).click();
    assert.equal(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled(), true);
    await page.keyboard.press('Escape');
    held.resolve();
    await dialog.getByRole('alert').getByText('It did not work.').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Disable' }).click();
    assert.equal(await dialog.getByRole('alert').count(), 0);
  });

  test('what the person may not change is refused in the words of the service [WEB-22]', async (t) => {
    const { tenant, system, path } = await managed();
    const strong = await web.api.createAccount(tenant, { userType: 'EHR' });
    const { page } = await web.open(t, path, { tenant, permissions: ['accounts.manage'], expected: /403/ });
    await page.getByRole('button', { name: 'Change' }).click();
    const role = page.getByRole('dialog').getByLabel('Role');
    await role.locator('option', { hasText: 'Reader (has permissions that you do not)' }).waitFor({
      state: 'attached',
    });
    assert.equal(await role.locator('option', { hasText: 'Reader (' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Integration accounts' }).last().click();
    await page.getByRole('link', { name: strong.email }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.notEqual(strong.email, system.email);
  });

  test('ends one session, whose button keeps the focus until it is gone, and all [WEB-4, WEB-24, WEB-62]', async (t) => {
    const { tenant, system, path } = await managed();
    for (let more = 0; more < 2; more += 1)
      await web.api.database.pool.query({
        text: `insert into session (organisation_id, id, account_id, created_at, expires_at)
          values ($1, $2, $3, now(), now() + interval '90 days')`,
        values: [tenant.organisationId, randomUUID(), system.userId],
      });
    const { page } = await web.open(t, path, { tenant, expected: /503/ });
    await page.setViewportSize({ width: 1_280, height: 400 });
    const rows = page.getByRole('table', { name: 'Sessions' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    const end = rows.first().getByRole('button', { name: /^End the session of a program, last used \d/ });
    const refusal = { statusCode: 503, message: 'Not now.', error: 'Service Unavailable' };
    await page.route('**/sessions/*', (route) => route.fulfill({ status: 503, json: refusal }));
    await end.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Not now.').waitFor();
    await end.and(page.locator(':focus')).waitFor();
    await page.unrouteAll();
    await page.keyboard.press('Enter');
    await rows.nth(2).waitFor({ state: 'detached' });
    await page.locator('h1:focus').waitFor();
    const headingEnd = `document.querySelector('h1').getBoundingClientRect().bottom`;
    assert.ok(Number(await page.evaluate(headingEnd)) < 0, 'the page stays where it is');
    await page.getByRole('button', { name: 'End all' }).click();
    await page.getByRole('dialog').getByText('2 sessions end').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'End all' }).click();
    await page.getByRole('heading', { name: 'Nobody is signed in with it' }).waitFor();
  });
});
