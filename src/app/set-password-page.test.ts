/** The page that a setup link opens, in a real browser and over plain HTTP. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { useEmptyApi } from '../../test-support/service/api.ts';
import { NO_BROWSER, startBrowser } from '../../test-support/service/browser.ts';
import { listenHere } from '../../test-support/service/free-port.ts';
import { cheapPasswords } from '../../test-support/sign-in/sign-in.ts';
import { type CreatedAccount, createAccount } from '../sign-in/accounts/create-account.ts';
import { OPERATOR } from '../tenancy/administration/author.ts';
import { createRole } from '../tenancy/roles/roles.ts';

const PASSWORD = 'seven green ladders';
let accounts = 0;

const api = await useEmptyApi();
const tenant = await api.createTenant();
const role = { ...tenant, name: 'reader', permissions: ['patients.patients.list'] };
await createRole(api.database.pool, role, OPERATOR);

/** An account without a password. */
function invite(publicBaseUrl = api.baseUrl): Promise<CreatedAccount & { setupLink: string }> {
  accounts += 1;
  const { organisationId, facilityId } = tenant;
  return createAccount(
    { db: api.database.pool, passwords: cheapPasswords(), publicBaseUrl },
    {
      organisationId,
      facilityIds: [facilityId],
      email: `invited-${accounts}@example.org`,
      role: { name: 'reader' },
      userType: 'STAFF',
      password: { kind: 'setup-link' },
      mustChangePassword: false,
    },
    { now: api.clock.now, author: OPERATOR },
  ) as Promise<CreatedAccount & { setupLink: string }>;
}

async function signInStatus(userId: string): Promise<number> {
  const body = { identity: userId, credential: PASSWORD, userType: 'STAFF' };
  return (await api.call('/auth/login', { body })).status;
}

test('a setup link leads to a page that loads from its own origin only, with nothing inline [SIGN-IN-47, SEC-29]', async () => {
  const { setupLink } = await invite();
  const page = await api.call(setupLink);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.text, /<html lang="en">/);
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/);
  const files = [...page.text.matchAll(/<(?:script|link)[^>]* (?:src|href)="(?!data:)([^"]+)"/g)];
  assert.ok(files.length >= 2);
  const answers = [page];
  for (const [, file = ''] of files) answers.push(await api.call(new URL(file, setupLink).href));
  for (const [index, { status, headers }] of answers.entries()) {
    assert.equal(status, 200);
    // The files of the page have new names when they change.
    assert.equal(
      headers.get('cache-control'),
      index === 0 ? 'no-store' : 'public, max-age=31536000, immutable',
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "form-action 'none'",
    ])
      assert.ok(policy.includes(rule), rule);
    assert.doesNotMatch(policy, /unsafe|upgrade|https?:|\*/);
  }
});

test('behind a path prefix the link keeps the prefix', async () => {
  const { setupLink } = await invite('https://proxy.example.org/records/api/v1');
  assert.match(setupLink, /^https:\/\/proxy\.example\.org\/records\/console\/set-password#token=[\w-]{64}$/);
});

describe('in a browser', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  let browser: Browser;
  let page: Page;
  let asked: string[];
  let complaints: string[];

  before(async () => {
    browser = await startBrowser();
  });
  after(async () => browser?.close());
  beforeEach(async () => {
    page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    asked = [];
    complaints = [];
    page.on('request', (one) => asked.push(one.url()));
    page.on('console', (line) => complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(() => page.close());

  async function fill(password = PASSWORD, repeated = password): Promise<void> {
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('The same once more').fill(repeated);
    await page.getByRole('button', { name: 'Set the password' }).click();
  }
  const alerted = (text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();

  test('the password is set, and the token stays out of addresses, history and logs [SIGN-IN-47, SEC-23]', async () => {
    const { setupLink, userId } = await invite();
    const token = new URL(setupLink).hash.slice('#token='.length);
    await page.goto(setupLink);
    await page.getByLabel('New password').waitFor();
    assert.equal(page.url(), setupLink.slice(0, setupLink.indexOf('#')));
    await fill();
    await page.getByRole('heading', { name: 'The password is set' }).waitFor();
    assert.equal(await page.getByLabel('New password').isVisible(), false);
    assert.equal(await signInStatus(userId), 200);
    assert.deepEqual(complaints, []);
    await page.getByRole('link', { name: 'To the sign-in of the console' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(page.url(), `${api.origin}/console/`);
    assert.deepEqual(
      asked.filter((url) => url.split('#')[0]?.includes(token)),
      [],
    );
    assert.ok(!api.logs().includes(token) && !api.logs().includes(PASSWORD));
  });

  test('what the service refuses is said, also while typing, and may be mended [WEB-53]', async () => {
    const { setupLink, userId } = await invite();
    await page.goto(setupLink);
    await page.getByLabel('New password').fill('password1234');
    await page.getByRole('status').getByText('The password is one of the most common ones.').waitFor();
    await fill(PASSWORD, `${PASSWORD}s`);
    await alerted('The two passwords differ.');
    assert.equal(asked.filter((url) => url.includes('/auth/')).length, 0);
    await fill('too short');
    await alerted('The password must have at least 12 characters.');
    assert.equal(await page.getByLabel('New password').getAttribute('aria-invalid'), 'true');
    await page.locator('#password:focus').waitFor();
    await fill();
    await page.getByRole('heading', { name: 'The password is set' }).waitFor();
    assert.equal(await signInStatus(userId), 200);
  });

  test('a link that was used says so, and another link in the same tab works', async () => {
    const used = await invite();
    const next = await invite();
    const body = { token: new URL(used.setupLink).hash.slice('#token='.length), newCredential: PASSWORD };
    assert.equal((await api.call('/auth/password-setup', { body })).status, 204);
    await page.goto(used.setupLink);
    await fill();
    await alerted(
      'This setup link was used or replaced, is too old, or its account was changed. Ask whoever gave it to you for a new one.',
    );
    await page.goto(next.setupLink);
    await fill();
    await page.getByRole('heading', { name: 'The password is set' }).waitFor();
    assert.equal(await signInStatus(next.userId), 200);
  });

  test('an address without its token, and a service that is gone, are said', async () => {
    await page.goto(`${api.origin}/console/set-password`);
    await alerted('Open the whole link that you were given.');
    assert.equal(await page.getByLabel('New password').isVisible(), false);
    const { setupLink } = await invite();
    await page.goto(setupLink);
    await page.route('**/auth/**', (route) => route.abort());
    await fill();
    await alerted('The service cannot be reached.');
    assert.equal(await page.getByLabel('New password').inputValue(), PASSWORD);
  });

  test('it works with the keyboard alone', async () => {
    const { setupLink, userId } = await invite();
    await page.goto(setupLink);
    await page.locator('#password:focus').waitFor();
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    assert.equal(await page.getByLabel('New password').getAttribute('type'), 'text');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The password is set' }).waitFor();
    await page.locator('#heading:focus').waitFor();
    assert.equal(await signInStatus(userId), 200);
  });

  test('behind a proxy with a path prefix it finds the service [WEB-3]', async () => {
    const proxy = await startPrefixProxy('/records');
    try {
      const { setupLink, userId } = await invite(`${proxy.origin}/records/api/v1`);
      await page.goto(setupLink);
      await fill();
      await page.getByRole('heading', { name: 'The password is set' }).waitFor();
      assert.equal(await signInStatus(userId), 200);
    } finally {
      await proxy.close();
    }
  });
});

/** A proxy that has the service below a path. */
async function startPrefixProxy(prefix: string): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end();
    const onward = request(api.origin + url.slice(prefix.length), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    return incoming.pipe(onward);
  });
  const port = await listenHere(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
