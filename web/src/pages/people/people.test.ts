/** People in the console, in a real browser. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/console-page.ts';

describe('people', { skip: NO_BROWSER, timeout: 240_000 }, () => {
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
    assert.equal(await page.getByText(system.email).count(), 0);
    await page.getByRole('button', { name: 'New person' }).click();
    const email = `head-${randomUUID()}@example.org`;
    const dialog = page.getByRole('dialog', { name: 'New person' });
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Role').selectOption(role.id);
    assert.equal(await dialog.getByLabel('It must be changed').isChecked(), true);
    await dialog.getByRole('radio', { name: 'Make a setup link' }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('/console/set-password#token=').waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { name: email }).waitFor();
    await page.getByText('Has no password yet').waitFor();
    assert.equal(await page.getByText('Quick start for the partner').count(), 0);
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
});
