/** The focus, when something is sent and when dialogs close. In a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { NO_BROWSER, useConsole } from '../../../test-support/service/console-page.ts';

describe('the focus', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  const web = useConsole();

  test('the focus is not lost: in a secret that follows a form, after it, and on a button that was pressed [WEB-4]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { userId } = await web.api.createAccount(tenant);
    const { page } = await web.open(t, `/integration-accounts/${userId}`, { tenant });
    const press = async (button: Locator) => {
      await button.focus();
      await page.keyboard.press('Enter');
    };
    const hasFocus = (button: Locator) => button.and(page.locator(':focus')).waitFor();
    const reset = page.getByRole('main').getByRole('button', { name: 'Reset password' });
    await press(reset);
    await press(page.getByRole('dialog').getByRole('button', { name: /^Reset/ }));
    for (const name of ['Copy: Password', 'I have kept it']) {
      await hasFocus(page.getByRole('dialog').getByRole('button', { name }));
      await page.keyboard.press(name.startsWith('Copy') ? 'Tab' : 'Enter');
    }
    await hasFocus(reset);
    await press(page.getByRole('button', { name: 'Disable' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Disable' }));
    const enable = page.getByRole('button', { name: 'Enable' });
    await hasFocus(enable);
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('button', { name: 'Disable' }));
    await press(page.getByRole('button', { name: 'Change' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Save' }));
    await hasFocus(page.getByRole('button', { name: 'Change' }));
  });

  test('a dialog stays open when its button is pressed twice, and when somebody presses beside it [WEB-76]', async (t) => {
    const { page } = await web.open(t, '/integration-accounts');
    await page.getByRole('main').getByRole('button', { name: 'New integration account' }).dblclick();
    const email = page.getByRole('dialog').getByLabel('Email');
    await email.fill('typed@example.org');
    await page.mouse.click(5, 5);
    assert.equal(await email.inputValue(), 'typed@example.org');
    await page.keyboard.press('Escape');
    await email.waitFor({ state: 'detached' });
  });
});
