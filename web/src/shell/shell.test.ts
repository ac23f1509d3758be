/** What every page stands in: sign-in, navigation, facility, languages, palette. In a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { changeAccount } from '../../../src/sign-in/administration/change-account.ts';
import { operatorOn } from '../../../src/sign-in/administration/managed-account.ts';
import { OPERATOR } from '../../../src/tenancy/administration/author.ts';
import { createRole } from '../../../src/tenancy/roles/roles.ts';
import { holdDeliveries } from '../../../test-support/exchange/held-deliveries.ts';
import { NO_BROWSER, signIn, useConsole } from '../../../test-support/service/console-page.ts';

describe('the shell', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  /** A moment after its heading is there. */
  const isTitled = (page: Page, title: string) =>
    page.waitForFunction(`document.title === '${title} – interchange'`);

  test('who is not signed in gets the sign-in at the address that was asked for [WEB-5]', async (t) => {
    const { page } = await web.open(t, '/exchange?status=held', { signedOut: true, expected: /401|403/ });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/exchange');
    await page.getByLabel('Email').fill('nobody@example.org');
    await page.getByRole('textbox', { name: 'Password' }).fill('not the right one');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'The email or the password is wrong' }).waitFor();
  });

  test('while it cannot be read who is signed in, the console says why, and goes on by itself [WEB-5]', async (t) => {
    const { page } = await web.open(t, '/my-account', { expected: /503/ });
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
    const refusal = { statusCode: 503, message: 'The service cannot reach its database.', error: '' };
    const next = Promise.withResolvers<void>();
    let asked = 0;
    await page.route('**/console/api/session', async (route) => {
      asked += 1;
      if (asked === 1) return route.fulfill({ status: 503, json: refusal });
      await next.promise;
      return route.continue();
    });
    await page.reload();
    await page.getByRole('main').getByRole('alert').getByText(refusal.message).waitFor();
    await isTitled(page, 'This could not be read');
    next.resolve();
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
  });

  test('until the first page is there, the console says that it loads, and then what to do [WEB-78]', async (t) => {
    const { page } = await web.open(t, '/my-account');
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
    const [loading, late] = [
      page.getByText('Loading …'),
      page.getByText('The service has not answered yet.'),
    ];
    assert.equal(await loading.isVisible(), false);
    for (const slow of ['**/assets/index-*.js', '**/console/api/session']) {
      const next = Promise.withResolvers<void>();
      await page.route(slow, (route) => next.promise.then(() => route.continue()));
      await page.reload({ waitUntil: 'commit' });
      await loading.waitFor();
      // Ten seconds pass, which nobody waits for here.
      await late.waitFor({ state: 'hidden' });
      await page.evaluate('for (const one of document.getAnimations()) one.finish()');
      await late.waitFor();
      next.resolve();
      await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
      await loading.waitFor({ state: 'hidden' });
      await page.unrouteAll();
    }
  });

  test('a session that ends leads to the sign-in, at the same address [WEB-5]', async (t) => {
    const { page, account } = await web.open(t, '/exchange', { expected: /401/ });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await web.api.database.pool.query(
      'update session set revoked_at = now() where organisation_id = $1 and account_id = $2',
      [account.organisationId, account.userId],
    );
    await web.api.addNode().then((node) => node.close());
    // Whatever the page reads next: it may have read something meanwhile.
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/exchange');
  });

  test('the navigation has what the role opens, and another page names the permission [WEB-7]', async (t) => {
    const { page } = await web.open(t, '/integration-accounts', {
      permissions: ['exchange.deliveries.read'],
    });
    await page.getByRole('heading', { name: 'Your role does not open this page' }).waitFor();
    await page.getByText('accounts.manage').waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    assert.deepEqual(links, ['Overview', 'Exchange', 'My account']);
  });

  test('each page has its title and takes the focus; the palette goes to it by its name [WEB-4, WEB-9]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await isTitled(page, 'Exchange');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('termin');
    await page.getByRole('option', { name: 'Terminology' }).waitFor();
    // What was typed before the palette could be seen is in it.
    assert.equal(await page.getByRole('combobox', { name: 'Type a part of a name' }).inputValue(), 'termin');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Terminology', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/terminology');
    await isTitled(page, 'Terminology');
    await page.locator('h1:focus').filter({ hasText: 'Terminology' }).waitFor();
  });

  test('no two pages have the same title [WEB-4]', async (t) => {
    const { page } = await web.open(t, '/');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const paths = (await page.evaluate(
      `Object.values(window.__TSR_ROUTER__.routesById)
         .filter(({ fullPath, options }) => options.staticData?.page !== undefined && !fullPath.includes('$'))
         .map(({ fullPath }) => fullPath)`,
    )) as string[];
    const titles: string[] = [];
    for (const path of paths) {
      await page.goto(`${web.api.origin}/console${path}`);
      await page.locator('h1').waitFor();
      titles.push((await page.locator('h1').textContent()) ?? '');
    }
    assert.deepEqual(titles, [...new Set(titles)]);
  });

  test('the palette finds a name without its accents, and what the arrows lead to is in view [WEB-9]', async (t) => {
    const { page } = await web.open(t, '/exchange', { language: 'fr' });
    await page.getByRole('heading', { name: 'Échange', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('ArrowUp');
    const last = page.getByRole('option').last();
    await last.and(page.locator('[aria-selected="true"]')).waitFor();
    await page.waitForFunction(`(() => {
      const option = document.querySelector('[role="option"]:last-child');
      const [{ top, bottom }, list] = [option, option.parentElement].map((one) => one.getBoundingClientRect());
      // It is scrolled by whole pixels.
      return top > list.top - 1 && bottom < list.bottom + 1;
    })()`);
    await page.keyboard.type('roles');
    await page.getByRole('option', { name: 'Rôles' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Rôles', level: 1 }).waitFor();
  });

  test('tabs without room stand in one line, and the current one is in view [WEB-71]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await holdDeliveries(web.api, tenant, { count: 1 });
    const { page } = await web.open(t, '/my-account', { tenant, language: 'fr' });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${web.api.origin}/console/exchange/callbacks`);
    const tabs = page.getByRole('navigation', { name: 'Échange' });
    await tabs.getByRole('link', { name: 'Retenus 1' }).waitFor();
    const boxOf = async (name: string) => {
      const box = await tabs.getByRole('link', { name }).boundingBox();
      assert.ok(box !== null, name);
      return box;
    };
    const [first, last] = [await boxOf('Envois'), await boxOf('Réponses')];
    assert.equal(first.y, last.y);
    assert.ok(last.x >= 0 && last.x + last.width <= 360, JSON.stringify(last));
    const scrolled = await tabs.evaluate((nav: { scrollLeft: number }) => nav.scrollLeft);
    assert.ok(scrolled > 0, 'there is no room for all of them');
  });

  test('the tabs of programs without room stand in one line [WEB-71]', async (t) => {
    const { userId } = await web.api.createAccount(web.tenant);
    const { page } = await web.open(t, `/integration-accounts/${userId}`);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('tab', { name: 'curl' }).waitFor();
    const heights = await page
      .getByRole('tab')
      .evaluateAll((tabs: { offsetTop: number }[]) => tabs.map(({ offsetTop }) => offsetTop));
    assert.equal(new Set(heights).size, 1, String(heights));
  });

  test('a language tag that no text can be written in does not take the texts away [WEB-8]', async (t) => {
    const { page } = await web.open(t, '/');
    await page.addInitScript(
      "Object.defineProperty(navigator, 'languages', { get: () => ['en-US@posix', 'en-GB'] })",
    );
    await page.reload();
    await page.getByText('What needs you at').waitFor();
  });

  test('the chosen facility goes along with every call [WEB-6]', async (t) => {
    const other = await web.api.createFacility(web.tenant.organisationId);
    const { page } = await web.open(t, '/exchange', { facilityIds: [web.tenant.facilityId, other] });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    const asked = page.waitForRequest(
      (request) =>
        request.url().includes('/exchange/deliveries') && request.headers()['x-facility-id'] === other,
    );
    await page.getByLabel('Facility').selectOption(other);
    await asked;
    await page.reload();
    await page.getByLabel('Facility').waitFor();
    assert.equal(await page.getByLabel('Facility').inputValue(), other);
  });

  test('a long name of a facility is read whole where there is room [WEB-6]', async (t) => {
    const tenant = await web.api.createTenant();
    const other = await web.api.createFacility(tenant.organisationId);
    await web.api.database.pool.query(
      `update facility set name = 'Hospital of the Holy Cross, building ' || id where organisation_id = $1`,
      [tenant.organisationId],
    );
    const { page } = await web.open(t, '/my-account', {
      tenant,
      facilityIds: [tenant.facilityId, other],
    });
    const chooser = page.getByLabel('Facility');
    await chooser.waitFor();
    const [given, natural] = (await chooser.evaluate(
      (field: { clientWidth: number; style: { width: string } }) => {
        const before = field.clientWidth;
        field.style.width = 'max-content';
        const after = field.clientWidth;
        field.style.width = '';
        return [before, after];
      },
    )) as [number, number];
    assert.ok(given >= natural, `${given} of ${natural} px`);
  });

  test('a facility that is taken away while the console works in it: it goes on in another [WEB-6]', async (t) => {
    const { pool } = web.api.database;
    const other = await web.api.createFacility(web.tenant.organisationId);
    const { page, account } = await web.open(t, '/exchange', {
      facilityIds: [web.tenant.facilityId, other],
      expected: /403/,
    });
    await page.getByLabel('Facility').selectOption(other);
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await changeAccount(pool, {
      ...operatorOn(account.email),
      changes: { facilityIds: [web.tenant.facilityId] },
    });
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('row').nth(1).waitFor();
    assert.equal(await page.getByLabel('Facility').count(), 0, 'there is one left');
    await page.getByRole('status').filter({ hasText: 'You may not work at' }).waitFor();
  });

  test('what was read of a facility that is taken away is shown as that of no other [WEB-6]', async (t) => {
    const tenant = await web.api.createTenant();
    const { pool } = web.api.database;
    const { organisationId, facilityId } = tenant;
    const other = await web.api.createFacility(organisationId);
    await pool.query(
      `insert into import_run (organisation_id, facility_id, id, source, state)
       values ($1, $2, gen_random_uuid(), 'http', 'failed')`,
      [organisationId, other],
    );
    const { page, account } = await web.open(t, '/my-account', {
      tenant,
      facilityIds: [facilityId, other],
      expected: /403/,
    });
    await page.getByLabel('Facility').selectOption(other);
    await page.getByRole('link', { name: 'Overview' }).click();
    const trouble = page.getByRole('heading', { name: 'Incomplete imports' });
    await trouble.waitFor();
    await changeAccount(pool, { ...operatorOn(account.email), changes: { facilityIds: [facilityId] } });
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByLabel('Facility').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Nothing needs you now' }).waitFor();
    assert.equal(await trouble.count(), 0);
  });

  test('a permission that is taken away while the console is open: the navigation knows with the next call [WEB-7]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page, account } = await web.open(t, '/my-account', { tenant, expected: /403/ });
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
    const { organisationId } = tenant;
    const role = await createRole(
      web.api.database.pool,
      { organisationId, name: 'Less', permissions: ['exchange.deliveries.read'] },
      OPERATOR,
    );
    await changeAccount(web.api.database.pool, {
      ...operatorOn(account.email),
      changes: { role: { id: role.id } },
    });
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('heading', { name: 'Your role does not open this page' }).waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    assert.deepEqual(links, ['Overview', 'Exchange', 'My account']);
  });

  test('the name of each page has room in the navigation, in French too [WEB-7, WEB-8]', async (t) => {
    const { page } = await web.open(t, '/integration-accounts', { language: 'fr' });
    const current = page.getByRole('link', { name: 'Comptes d’intégration' });
    await current.and(page.locator('[aria-current="page"]')).waitFor();
    const links = page.getByRole('navigation').getByRole('link');
    const narrow = await links.evaluateAll(
      (all: { scrollWidth: number; clientWidth: number; textContent: string }[]) =>
        all
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
    );
    assert.deepEqual(narrow, []);
  });

  test('the right to manage systems that is taken away while an account is open: the navigation knows with the next call [WEB-7]', async (t) => {
    const tenant = await web.api.createTenant();
    const { pool } = web.api.database;
    const { userId } = await web.api.createAccount(tenant);
    const { page, account } = await web.open(t, `/integration-accounts/${userId}`, {
      tenant,
      expected: /404/,
    });
    await page.getByRole('button', { name: 'Disable' }).click();
    const { organisationId } = tenant;
    const role = await createRole(
      pool,
      { organisationId, name: 'People', permissions: ['people.manage'] },
      OPERATOR,
    );
    await changeAccount(pool, { ...operatorOn(account.email), changes: { role: { id: role.id } } });
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('heading', { name: 'Your role does not open this page' }).waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    assert.deepEqual(links, ['Overview', 'People', 'Roles', 'My account']);
  });

  test('language and colours are chosen in the menu, and kept [WEB-8]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.getByRole('menuitemradio', { name: 'Français' }).click();
    await page.getByRole('heading', { name: 'Échange', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Échange', level: 1 }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.lang'), 'fr');
    assert.equal(await page.evaluate('document.documentElement.dataset.mantineColorScheme'), 'dark');
  });

  test('as long as nothing is chosen, language and colours are those of the browser [WEB-8]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    assert.equal(await scheme(), 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('[data-mantine-color-scheme="dark"]').waitFor();
    await page.addInitScript("Object.defineProperty(navigator, 'languages', { get: () => ['fr-CA', 'en'] })");
    await page.reload();
    await page.getByRole('heading', { name: 'Échange', level: 1 }).waitFor();
    assert.equal(await scheme(), 'dark');
  });

  test('without a network, what is asked and what is sent fails at once and says so, and nothing is sent later [WEB-75]', async (t) => {
    const { page } = await web.open(t, '/exchange', { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in: the service did not answer.').waitFor();
    let asked = 0;
    page.on('requestfailed', (request) => {
      if (request.url().includes('/exchange/deliveries?')) asked += 1;
    });
    await page.getByLabel('State').selectOption({ index: 1 });
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await alert.waitFor();
    assert.equal(asked, 1, 'it is not tried again before it is said');
    await page.context().setOffline(false);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
  });

  test('a page whose code is not here yet says that the service cannot be reached, and opens when it can [WEB-74]', async (t) => {
    const { page } = await web.open(t, '/exchange', { expected: /ERR_INTERNET_DISCONNECTED|PageNotLoaded/ });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Roles' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor();
    await page.context().setOffline(false);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
  });

  test('a page whose code is gone since an upgrade is loaded anew once; then it says what is missing [WEB-74]', async (t) => {
    const { page } = await web.open(t, '/exchange', { expected: /404|PageNotLoaded/ });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    const gone = `${web.api.origin}/console/assets/gone.js`;
    await page.route('**/assets/roles-page-*.js', (route) => route.continue({ url: gone }));
    let documents = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents += 1;
    });
    await page.getByRole('link', { name: 'Roles' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The service does not have this page' });
    await alert.waitFor();
    assert.equal(documents, 1);
    await page.unrouteAll();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
  });

  test('while the code of another page is on its way, the console says that it loads [WEB-78]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    const code = Promise.withResolvers<void>();
    await page.route('**/assets/roles-page-*.js', async (route) => {
      await code.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Roles' }).click();
    const loading = page.getByRole('status').getByText('Loading', { exact: true });
    await loading.waitFor();
    code.resolve();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    await loading.waitFor({ state: 'detached' });
  });

  test('what stands in place of a page names the window and takes the focus [WEB-4, WEB-74]', async (t) => {
    const permissions = ['exchange.deliveries.read', 'roles.manage'];
    const { page } = await web.open(t, '/exchange', { permissions, expected: /404|PageNotLoaded/ });
    const isSaid = async (words: string) => {
      await page.getByRole('heading', { name: words, level: 1 }).waitFor();
      await isTitled(page, words);
    };
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await page.route('**/assets/roles-page-*.js', (route) =>
      route.continue({ url: `${web.api.origin}/console/assets/gone.js` }),
    );
    await page.evaluate(`sessionStorage.setItem('interchange-loaded-anew-RolesPage', '')`);
    await page.getByRole('link', { name: 'Roles' }).click();
    await isSaid('This could not be read');
    await page.locator('h1:focus').waitFor();
    await page.goto(`${web.api.origin}/console/people`);
    await isSaid('Your role does not open this page');
    await page.goto(`${web.api.origin}/console/nowhere`);
    await isSaid('There is no such page');
    assert.equal(await page.getByRole('main').count(), 1);
  });

  test('an address that leads to no page keeps the navigation, and leads on [WEB-5, WEB-7]', async (t) => {
    const permissions = ['exchange.deliveries.read'];
    const { page, account } = await web.open(t, '/roles/a/b', {
      permissions,
      signedOut: true,
      expected: /401/,
    });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, web.api, account);
    await page.reload();
    await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
    const links = page.getByRole('navigation').getByRole('link');
    assert.deepEqual(await links.allTextContents(), ['Overview', 'Exchange', 'My account']);
    await page.getByRole('main').getByRole('link', { name: 'Go to the overview' }).click();
    await page.locator('h1:focus').filter({ hasText: 'Overview' }).waitFor();
    await page.goto(`${web.api.origin}/console/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Exchange');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
  });

  test('of two pages whose code is gone, each is loaded anew once [WEB-74]', async (t) => {
    const { page } = await web.open(t, '/exchange', { expected: /404|PageNotLoaded/ });
    await page.getByRole('heading', { name: 'Exchange', level: 1 }).waitFor();
    await page.route('**/assets/*import-page-*.js', (route) =>
      route.continue({ url: `${web.api.origin}/console/assets/gone.js` }),
    );
    for (const path of [`/imports/${crypto.randomUUID()}`, '/terminology/import']) {
      let documents = 0;
      page.on('request', (request) => {
        if (request.isNavigationRequest()) documents += 1;
      });
      await page.goto(`${web.api.origin}/console${path}`);
      await page.getByRole('alert').filter({ hasText: 'The service does not have this page' }).waitFor();
      assert.equal(documents, 2, path);
    }
  });

  test('words in French that do not come leave the page and its menu in English, and that is said [WEB-8]', async (t) => {
    const { page } = await web.open(t, '/my-account', { expected: /404/ });
    await page.evaluate(`localStorage.setItem('interchange-language', 'fr')`);
    await page.route('**/assets/fr-*.js', (route) =>
      route.continue({ url: `${web.api.origin}/console/assets/gone.js` }),
    );
    await page.reload();
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'English', checked: true }).waitFor();
    await page.getByRole('menuitemradio', { name: 'Français' }).click();
    await page.getByText('The words of this language did not come.').waitFor();
    await page.getByRole('menuitemradio', { name: 'English', checked: true }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.lang'), 'en');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  });

  test('where the screen is narrow, the navigation is a drawer [WEB-7]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Terminology' }).click();
    await page.getByRole('heading', { name: 'Terminology', level: 1 }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});
