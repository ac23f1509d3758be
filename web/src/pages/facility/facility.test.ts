import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setModules } from '../../../../src/tenancy/organisations/facilities.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('facility', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('name and time zone are changed; what the service refuses is said at the field [WEB-56]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/facility', { tenant, expected: /400/ });
    await page.getByLabel('Time zone').fill('Nowhere/Else');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^The value must be a name of the IANA/).waitFor();
    await page.getByLabel('Time zone').fill('Africa/Lagos');
    await page.getByLabel('Name', { exact: true }).fill('Ward North');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ward North', level: 1 }).waitFor();
    await page.reload();
    assert.equal(await page.getByLabel('Time zone').inputValue(), 'Africa/Lagos');
  });

  test('a name that is not saved is left only after a question [WEB-76]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/facility', { tenant });
    const name = page.getByRole('textbox', { name: 'Name' });
    const before = await name.inputValue();
    await name.fill('Ward West');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('dialog').getByText('What you changed on this page is not saved.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await name.fill(before);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('another facility, and the way out, wait for the question too [WEB-76]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const other = await web.api.createFacility(tenant.organisationId);
    const facilityIds = [tenant.facilityId, other];
    const { page, account } = await web.open(t, '/facility', { tenant, facilityIds, expected: /401/ });
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Ward West');
    const question = page.getByRole('dialog');
    await page.getByLabel('Facility', { exact: true }).selectOption(other);
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await name.inputValue(), 'Ward West');
    assert.equal(await page.getByLabel('Facility', { exact: true }).inputValue(), tenant.facilityId);
    await page.getByRole('button', { name: account.email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await name.inputValue(), 'Ward West');
    await page.getByLabel('Facility', { exact: true }).selectOption(other);
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Other Facility', level: 1 }).waitFor();
    assert.equal(await name.inputValue(), 'Other Facility');
  });

  test('before a module is turned off it is said what stops; on and off hold at once [WEB-56, WEB-4]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { token } = await web.api.createAccount(tenant);
    const { page } = await web.open(t, '/facility', { tenant });
    const status = async () => (await web.api.call('/patients/base', { token })).status;
    assert.equal(await status(), 200);
    const patients = page.getByRole('switch', { name: /^Patients/ });
    await patients.click();
    const dialog = page.getByRole('dialog', { name: 'Turn off Patients?' });
    await dialog.getByText('Calls about patients and imports are refused with 403.').waitFor();
    await page.keyboard.press('Escape');
    await patients.and(page.locator(':focus')).waitFor();
    await patients.click();
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Patients is off.').waitFor();
    assert.equal(await status(), 403);
    await patients.click();
    await page.getByText('Patients is on.').waitFor();
    assert.equal(await status(), 200);
  });

  test('a module that is turned on, and the answer is lost: that is said, and the module is shown as it is now [WEB-56, WEB-80]', async (t) => {
    const tenant = await web.api.createTenant({ modules: ['patients'] });
    const { page } = await web.open(t, '/facility', { tenant, expected: /ERR_CONNECTION_RESET/ });
    await page.route('**/console/api/facilities/*', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('switch', { name: /^Laboratory/ }).click();
    await page.getByText('It may have done this all the same').waitFor();
    await page.getByRole('switch', { name: /^Laboratory/, checked: true }).waitFor();
  });

  test('two modules that are turned on at once are both on; what somebody else changed meanwhile stays [WEB-56]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { organisationId, facilityId } = tenant;
    const scope = { organisationId, facilityId };
    const db = web.api.database.pool;
    await setModules(db, { ...scope, modules: ['patients', 'encounters', 'publish'] });
    const { page } = await web.open(t, '/facility', { tenant });
    await page.getByRole('switch', { name: /^Laboratory/, checked: false }).waitFor({ state: 'attached' });
    await setModules(db, { ...scope, modules: ['patients', 'encounters'] });
    await page.getByRole('switch', { name: /^Laboratory/ }).click();
    await page.getByRole('switch', { name: /^Imaging/ }).click();
    await page.getByText('Laboratory is on.').waitFor();
    await page.getByText('Imaging is on.').waitFor();
    const { rows } = await db.query({
      text: 'select module from facility_module where organisation_id = $1 and facility_id = $2 order by module',
      values: [organisationId, facilityId],
    });
    assert.deepEqual(
      rows.map(({ module }: { module: string }) => module),
      ['encounters', 'imaging', 'lab', 'patients'],
    );
  });

  test('saving sends what was changed, and leaves what somebody else changed meanwhile [WEB-56]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/facility', { tenant });
    await page.getByLabel('Time zone').fill('Africa/Lagos');
    await web.api.database.pool.query({
      text: `update facility set name = 'Ward West' where organisation_id = $1 and id = $2`,
      values: [tenant.organisationId, tenant.facilityId],
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ward West', level: 1 }).waitFor();
  });
});
