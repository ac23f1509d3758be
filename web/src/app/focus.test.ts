/** The focus, when something is sent and when dialogs close. In a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { NO_BROWSER, useConsole } from '../../../test-support/service/console-page.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';

describe('the focus', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('the focus is not lost: in a secret that follows a form, after it, and on a button that was pressed [WEB-4]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { userId } = await web.api.createAccount(tenant);
    const { page } = await web.open(t, `/integration-accounts/${userId}`, { tenant });
    const press = async (button: Locator) => {
      await button.focus();
      await page.keyboard.press('Enter');
    };
    const dialog = page.getByRole('dialog');
    const pressInDialog = async (name: string | RegExp) => {
      // A moment after it opens it takes the focus, from the button too.
      await dialog.locator(':focus').waitFor();
      await press(dialog.getByRole('button', { name }));
    };
    const hasFocus = (button: Locator) => button.and(page.locator(':focus')).waitFor();
    const reset = page.getByRole('main').getByRole('button', { name: 'Reset password' });
    await press(reset);
    await pressInDialog(/^Reset/);
    for (const name of ['Copy: Password', 'I have kept it']) {
      await hasFocus(dialog.getByRole('button', { name }));
      await page.keyboard.press(name.startsWith('Copy') ? 'Tab' : 'Enter');
    }
    await hasFocus(reset);
    await press(page.getByRole('button', { name: 'Disable' }));
    await pressInDialog('Disable');
    const enable = page.getByRole('button', { name: 'Enable' });
    await hasFocus(enable);
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('button', { name: 'Disable' }));
    await press(page.getByRole('button', { name: 'Change' }));
    await pressInDialog('Save');
    await hasFocus(page.getByRole('button', { name: 'Change' }));
  });

  test('the focus is not lost when a button goes with its press: that which clears the filters, and that which tries again [WEB-4]', async (t) => {
    const { page } = await web.open(t, '/people?state=disabled', { expected: /503/ });
    const heading = page.locator('h1:focus');
    const press = async (name: string) => {
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      await heading.waitFor();
    };
    await press('Clear filters');
    await page.route('**/console/api/roles**', (route) => route.fulfill({ status: 503 }));
    await page.getByRole('navigation').getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('alert').getByText('The service answered 503').waitFor();
    await page.unrouteAll();
    await press('Try again');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('the focus is not lost when a dialog about second factors closes [WEB-4]', async (t) => {
    const { page } = await web.open(t, '/my-account');
    await page.getByRole('main').getByRole('button', { name: 'Set up an app' }).click();
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('h1:focus').waitFor();
  });

  test('the focus is where it was when the palette closes [WEB-4, WEB-9]', async (t) => {
    const { page } = await web.open(t, '/people');
    const button = page.getByRole('main').getByRole('button', { name: 'New person' }).first();
    await button.focus();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await button.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('New person');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Email').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await button.and(page.locator(':focus')).waitFor();
  });

  test('the palette does not open above a dialog, where Escape would close both [WEB-9, WEB-76]', async (t) => {
    const { page } = await web.open(t, '/people');
    await page.getByRole('main').getByRole('button', { name: 'New person' }).first().click();
    const email = page.getByRole('dialog').getByLabel('Email');
    await email.fill('typed@example.org');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('x');
    assert.equal(await email.inputValue(), 'typed@example.orgx');
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.keyboard.press('Escape');
    await email.waitFor({ state: 'detached' });
  });

  test('what went wrong with a long form is in view [WEB-4]', async (t) => {
    const { page } = await web.open(t, '/people', { expected: /503/ });
    await page.setViewportSize({ width: 360, height: 500 });
    await page.getByRole('main').getByRole('button', { name: 'New person' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill('nurse@example.org');
    await dialog.getByLabel('Role').selectOption({ index: 1 });
    await page.route('**/console/api/accounts', (route) => route.fulfill({ status: 503 }));
    await dialog.getByRole('button', { name: 'Create' }).click();
    const fault = dialog.getByText('The service answered 503');
    const header = dialog.getByRole('heading', { name: 'New person' });
    await waitUntil(async () => {
      const [below, above] = [await fault.boundingBox(), await header.boundingBox()];
      return below !== null && above !== null && below.y >= above.y + above.height;
    }, 'what went wrong is below the header');
  });

  test('a dialog stays open when its button is pressed twice, and when somebody presses beside it [WEB-76]', async (t) => {
    const { page } = await web.open(t, '/integration-accounts');
    await page.getByRole('main').getByRole('button', { name: 'New integration account' }).first().dblclick();
    const email = page.getByRole('dialog').getByLabel('Email');
    await email.fill('typed@example.org');
    await page.mouse.click(5, 5);
    assert.equal(await email.inputValue(), 'typed@example.org');
    await page.keyboard.press('Escape');
    await email.waitFor({ state: 'detached' });
  });
});
