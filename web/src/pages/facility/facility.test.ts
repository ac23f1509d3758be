import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';

describe('facility', { skip: NO_BROWSER, timeout: 180_000 }, () => {
  const web = useConsole();

  test('name and time zone are changed; what the service refuses is said at the field [WEB-56]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/facility', { tenant, expected: /400/ });
    await page.getByLabel('Time zone').fill('Nowhere/Else');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/timeZone must be a name of the IANA/).waitFor();
    await page.getByLabel('Time zone').fill('Africa/Lagos');
    await page.getByLabel('Name', { exact: true }).fill('Ward North');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ward North', level: 1 }).waitFor();
    await page.reload();
    assert.equal(await page.getByLabel('Time zone').inputValue(), 'Africa/Lagos');
  });

  test('before a module is turned off it is said what stops; on and off hold at once [WEB-56]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { token } = await web.api.createAccount(tenant);
    const { page } = await web.open(t, '/facility', { tenant });
    const status = async () => (await web.api.call('/patients/base', { token })).status;
    assert.equal(await status(), 200);
    const patients = page.getByRole('switch', { name: /^Patients/ });
    await patients.click();
    const dialog = page.getByRole('dialog', { name: 'Turn off Patients?' });
    await dialog.getByText('Calls about patients and imports are refused with 403.').waitFor();
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Patients is off.').waitFor();
    assert.equal(await status(), 403);
    await patients.click();
    await page.getByText('Patients is on.').waitFor();
    assert.equal(await status(), 200);
  });
});
