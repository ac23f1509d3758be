/** Roles in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';
import { waitUntil } from '../../../../test-support/wait-until.ts';

describe('roles', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('makes a role from a preset, says that a name is taken, and deletes it [WEB-27]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page, account } = await web.open(t, '/roles', { tenant, expected: /409/ });
    const call = (path: string, body?: object) =>
      web.api.call(path, { token: account.token, ...(body === undefined ? {} : { body }) });
    await call('/roles', { name: 'Taken', permissions: ['patients.patients.list'] });
    await page.getByRole('button', { name: 'New role' }).click();
    await page.getByRole('heading', { name: 'New role' }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Taken');
    await page.getByRole('button', { name: 'Laboratory partner' }).click();
    await page.getByRole('checkbox', { name: 'search patients' }).uncheck();
    await page.getByRole('button', { name: 'Create the role' }).click();
    await page.getByText(/already has a role with this name/).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Laboratory');
    await page.getByRole('checkbox', { name: /sign in with a second factor/ }).check();
    await page.getByRole('button', { name: 'Create the role' }).click();
    await page.getByRole('heading', { name: 'Laboratory', exact: true }).waitFor();
    const made = (await call('/roles?search=Laboratory')).json.items[0];
    assert.equal(made.requiresSecondFactor, true);
    assert.equal(made.permissions.length, 5);
    await page.getByRole('checkbox', { name: 'search patients' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    // The notice of before may still be there.
    const held = async () => (await call('/roles?search=Laboratory')).json.items[0].permissions.length;
    await waitUntil(async () => (await held()) === 6, 'the role has the sixth permission');
    await page.getByText('Laboratory is saved.').last().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Laboratory is deleted.').waitFor();
    await page.getByRole('link', { name: 'Taken' }).waitFor();
  });

  test('saving sends what was changed, and leaves what somebody else changed meanwhile [WEB-27]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page, account } = await web.open(t, '/roles', { tenant });
    const permissions = ['records.import', 'patients.patients.list'];
    const call = async (path: string, options: object) =>
      (await web.api.call(path, { token: account.token, ...options })).json;
    const role = await call('/roles', { body: { name: 'Night shift', permissions } });
    await page.goto(`${web.api.origin}/console/roles/${role.id}`);
    const search = page.getByRole('checkbox', { name: 'search patients' });
    await search.uncheck();
    await page.getByRole('checkbox', { name: 'read one patient' }).check();
    const meanwhile = { name: 'Evening shift', permissions: [...permissions, 'encounters.access'] };
    await call(`/roles/${role.id}`, { method: 'PATCH', body: meanwhile });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Evening shift is saved.').waitFor();
    await page.getByRole('heading', { name: 'Evening shift', level: 1 }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Evening shift');
    const { items } = await call('/roles?search=Evening', {});
    const wanted = ['encounters.access', 'patients.patients.get', 'records.import'];
    assert.deepEqual(items[0].permissions.toSorted(), wanted);
    await page.getByText('3 permissions', { exact: true }).waitFor();
    assert.equal(await search.isChecked(), false);
  });

  test('what is not saved is left only after a question, and not by saving or deleting [WEB-76]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/roles/new', { tenant });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Night shift');
    await page.getByRole('link', { name: 'Overview' }).click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await name.inputValue(), 'Night shift');
    await page.getByRole('checkbox', { name: 'search patients' }).check();
    await page.getByRole('button', { name: 'Create the role' }).click();
    await page.getByRole('heading', { name: 'Night shift', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('checkbox', { name: 'read one patient' }).check();
    await page.goBack();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL('**/console/roles/new');
    await page.goForward();
    await page.getByRole('checkbox', { name: 'read one patient' }).check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Night shift is deleted.').waitFor();
    assert.equal(await question.count(), 0);
  });

  test('the list says who holds a role; its page says what each permission opens [WEB-26]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/roles', { tenant });
    const rows = page.getByRole('table', { name: 'Roles' }).locator('tbody tr');
    await rows
      .first()
      .filter({ hasText: /\d+01Not required/ })
      .waitFor();
    await rows.first().getByRole('link').first().click();
    await page.getByText('No system and 1 person.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete' }).isDisabled(), true);
    await page.locator('summary[aria-label^="patients.patients.get:"]').click();
    await page.getByText('GET /patients/base/', { exact: false }).first().waitFor();
  });

  test('large numbers are written as the language writes them, in a list and in a tab [WEB-8, WEB-26]', async (t) => {
    const { page } = await web.open(t, '/my-account');
    await page.route('**/console/api/roles?*', async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      json.items[0].holders.STAFF = 1500;
      await route.fulfill({ response, json });
    });
    await page.route('**/deliveries/replay', (route) =>
      route.fulfill({ json: { dryRun: true, count: 5200, deliveryIds: [] } }),
    );
    await page.getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('cell', { name: '1,500' }).waitFor();
    await page.getByRole('link', { name: 'Exchange', exact: true }).click();
    await page.getByRole('link', { name: 'Held 5,200' }).waitFor();
  });

  test('permissions stand below their areas; an area is taken whole, and three presets are offered [WEB-26, WEB-27]', async (t) => {
    const { page } = await web.open(t, '/roles/new');
    const area = (name: string) =>
      page.getByRole('group').filter({ has: page.getByRole('checkbox', { name, exact: true }) });
    await area('Terminology').getByText('0 of 3').waitFor();
    await area('Terminology').getByRole('checkbox', { name: 'Terminology', exact: true }).check();
    await area('Terminology').getByText('3 of 3').waitFor();
    await page.getByText('3 permissions', { exact: true }).waitFor();
    for (const [name, held] of [
      ['Patients', 'search patients'],
      ['Administration', 'manage integration accounts'],
    ] as const)
      await area(name).getByRole('checkbox', { name: held }).waitFor();
    const all = await page.getByRole('group').getByRole('listitem').getByRole('checkbox').count();
    const chosen = async (preset: string) => {
      await page.getByRole('button', { name: preset, exact: true }).click();
      return page.getByRole('group').getByRole('listitem').getByRole('checkbox', { checked: true }).count();
    };
    assert.equal(await chosen('Full'), all);
    assert.equal(await chosen('Laboratory partner'), 6);
    assert.equal(await chosen('Read-only'), 7);
  });

  test('the page of a role names its first holders, and leads to all of them [WEB-60, WEB-61]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page, account } = await web.open(t, '/roles', { tenant });
    const call = async (path: string, body: object) =>
      (await web.api.call(path, { token: account.token, body })).json;
    const role = await call('/roles', { name: 'Laboratory', permissions: ['records.import'] });
    const add = async (userType: string, count: number) => {
      const email = `${userType.toLowerCase()}-${count}@example.org`;
      await call('/accounts', { email, userType, roleId: role.id });
      return email;
    };
    const [system, person] = [await add('EHR', 1), await add('STAFF', 1)];
    for (const count of [2, 3, 4, 5]) await add('STAFF', count);
    const without = await call('/roles', { name: 'Another', permissions: ['records.import'] });
    const stranger = 'another@example.org';
    await call('/accounts', { email: stranger, userType: 'STAFF', roleId: without.id });
    await page.reload();
    await page.getByRole('link', { name: '5 people hold Laboratory' }).click();
    await page.waitForURL(`**/console/people?role=${role.id}`);
    await page.getByText('5 rows').waitFor();
    assert.equal(await page.getByText(account.email).count(), 0);
    assert.equal(await page.getByLabel('Role').inputValue(), role.id);
    await page.getByRole('link', { name: person }).click();
    await page.getByRole('link', { name: 'Laboratory', exact: true }).click();
    const holders = page.getByRole('region', { name: 'Who holds it' });
    await holders.getByText('1 system and 5 people.').waitFor();
    await holders.getByRole('link', { name: person }).waitFor();
    assert.equal(await holders.getByRole('listitem').count(), 5);
    assert.equal(await holders.getByText(stranger).count(), 0);
    await holders.getByRole('link', { name: 'See the system' }).click();
    await page.waitForURL(`**/console/integration-accounts?role=${role.id}`);
    await page.getByRole('link', { name: system }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL('**/console/integration-accounts');
  });

  test('who holds a role is named to those who manage accounts, and counted for others [WEB-61]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page, account } = await web.open(t, '/roles', { tenant, permissions: ['roles.manage'] });
    await page.locator('tbody tr').first().getByRole('link').click();
    const holders = page.getByRole('region', { name: 'Who holds it' });
    await holders.getByText('No system and 1 person.').waitFor();
    await holders.getByText('Who they are is shown to those who manage').waitFor();
    assert.equal(await page.getByText(account.email).count(), 0);
    assert.equal(await holders.getByRole('link').count(), 0);
  });

  test('what has the focus is above the bar with the button, also on a telephone [WEB-27]', async (t) => {
    const { page } = await web.open(t, '/roles/new');
    const covered = `(() => {
      const one = document.activeElement;
      const bar = document.querySelector('button[type=submit]').parentElement;
      return !bar.contains(one) && one.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
    })()`;
    for (const width of [360, 768, 1_440]) {
      await page.setViewportSize({ width, height: 740 });
      await page.getByLabel('Name', { exact: true }).focus();
      for (let step = 1; step < 40; step += 1) {
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(covered), false, `${width} px, step ${step}`);
      }
    }
  });

  test('a permission that the person lacks is shown, and cannot be given [WEB-27]', async (t) => {
    const { page } = await web.open(t, '/roles/new', {
      permissions: ['roles.manage', 'patients.patients.list'],
    });
    const lacking = page.getByRole('checkbox', { name: 'read one patient' });
    await lacking.waitFor();
    assert.equal(await lacking.isDisabled(), true);
    await page.getByText('patients.patients.get. You do not hold it').waitFor();
    await page.getByRole('button', { name: 'Read-only' }).click();
    await page.getByText('6 permissions are not yours to give').waitFor();
    assert.equal(await lacking.isChecked(), false);
    await page.getByText('1 permission', { exact: true }).waitFor();
  });

  test('a role that is stronger than the person is read only [WEB-27]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await web.api.createAccount(tenant, { userType: 'STAFF' });
    const { page, account } = await web.open(t, '/roles', { tenant, permissions: ['roles.manage'] });
    const { json } = await web.api.call('/roles', { token: account.token });
    const strong = json.items.find(({ permissions }: { permissions: string[] }) => permissions.length > 1);
    await page.getByRole('link', { name: strong.name }).click();
    await page.getByText('It has a permission that you do not hold').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).isDisabled(), true);
  });
});
