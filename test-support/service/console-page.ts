/**
 * The console in a real browser, on a real service, with somebody signed in. When a test ends, its page is checked:
 * no error on the browser's console, no request to another origin, no accessibility fault that axe finds, in light and in
 * dark, and no sideways scrolling where the screen is 360 px wide.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { waitUntil } from '../wait-until.ts';
import { type AccountOptions, startTestApi, type Tenant, type TestAccount, type TestApi } from './api.ts';
import { startBrowser } from './browser.ts';
import { signInAtConsole } from './console.ts';

export { NO_BROWSER } from './browser.ts';

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };
/** The rules of axe that look at colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface TestConsole {
  api: TestApi;
  tenant: Tenant;
  /** Opens an address of the console as somebody with these permissions; the page is checked when the test ends. */
  open(t: TestContext, path: string, options?: OpenOptions): Promise<OpenPage>;
}

export interface OpenOptions extends AccountOptions {
  /** Default: the tenant of the file. */
  tenant?: Tenant;
  /** Nobody is signed in. */
  signedOut?: boolean;
  /** As if it had been chosen before. The browser asks for English. */
  language?: 'fr';
  /** At the name of this machine instead of its address: passkeys belong to a name. */
  atLocalhost?: boolean;
  /** What the page is expected to write to the browser's console, such as a refusal of the service. */
  expected?: RegExp;
}

export interface OpenPage {
  page: Page;
  account: TestAccount;
}

/** One service and one browser for a test file. Call it at the top of the file. */
export function useConsole(): TestConsole {
  let browser: Browser;
  const t = {
    open: (test, path, options = {}) => openPage(test, { ...t, browser, path, options }),
  } as TestConsole;
  before(async () => {
    t.api = await startTestApi();
    t.tenant = await t.api.createTenant({ timeZone: 'Europe/Paris' });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await t.api?.close();
  });
  return t;
}

interface Opening {
  api: TestApi;
  browser: Browser;
  tenant: Tenant;
  path: string;
  options: OpenOptions;
}

async function openPage(t: TestContext, { api, browser, tenant, path, options }: Opening): Promise<OpenPage> {
  const account = await api.createAccount(options.tenant ?? tenant, { userType: 'STAFF', ...options });
  const origin = options.atLocalhost === true ? `http://localhost:${new URL(api.origin).port}` : api.origin;
  const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const faults = watch(page, origin, options.expected);
  t.after(async () => {
    try {
      if (t.passed !== false) await checkPage(page, faults);
    } finally {
      await context.close();
    }
  });
  if (options.signedOut !== true) await signIn(page, api, account);
  if (options.language !== undefined)
    await page.addInitScript(`localStorage['interchange-language'] ??= '${options.language}'`);
  await page.goto(`${origin}/console${path}`);
  return { page, account };
}

/** Whoever was signed in in this browser is no longer. */
export async function signIn(page: Page, api: TestApi, account: TestAccount): Promise<void> {
  const { cookie = '' } = await signInAtConsole(api, account);
  const at = cookie.indexOf('=');
  const [name, value] = [cookie.slice(0, at), cookie.slice(at + 1)];
  const { hostname } = new URL(api.origin);
  const path = '/console/';
  await page
    .context()
    .addCookies([{ name, value, domain: hostname, path, httpOnly: true, sameSite: 'Strict' }]);
}

/** The page does not let go: it is shown again. */
export async function goBackInVain(page: Page): Promise<void> {
  await page.evaluate(`
    window.moves = 0;
    addEventListener('popstate', () => (window.moves += 1));
    history.back();
  `);
  await waitUntil(async () => Number(await page.evaluate('window.moves')) >= 2, 'there, and back again');
}

function watch(page: Page, origin: string, expected: RegExp | undefined): string[] {
  const faults: string[] = [];
  const complain = (text: string) => {
    if (expected?.test(text) !== true) faults.push(text);
  };
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') complain(line.text());
  });
  page.on('pageerror', (error) => complain(error.message));
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) faults.push(`a request to ${asked}`);
  });
  return faults;
}

/**
 * Colours that change by and by are put at their end. Waiting for that could last for ever: a transition can go without
 * its promise being settled.
 */
async function isDrawn(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  })()`);
}

async function checkPage(page: Page, faults: readonly string[]): Promise<void> {
  // A test may end with a page that is still being loaded.
  await page.locator('h1').first().waitFor();
  await page.emulateMedia({ colorScheme: 'light' });
  await isDrawn(page);
  assert.deepEqual(await accessibilityFaults(page), [], 'axe, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await isDrawn(page);
  // The document is the same, in other colours; all rules are run once more below.
  assert.deepEqual(await accessibilityFaults(page, COLOUR_RULES), [], 'axe, dark');
  await page.setViewportSize(NARROW);
  await isDrawn(page);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(width) <= NARROW.width, `at ${NARROW.width} px the page is ${width} px wide`);
  assert.deepEqual(await accessibilityFaults(page), [], 'axe, dark, at 360 px');
  assert.deepEqual(faults, [], 'the console of the browser');
}

/** The browser's own authenticator. Its user answers at once, or never. */
export async function addAuthenticator(page: Page, { answers = true } = {}): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: answers,
    },
  });
}

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

/** axe is no file of the service, so the browser takes it past the content security policy. */
async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  // It is large, and given once to each document.
  if ((await page.evaluate('"axe" in window')) !== true) await page.evaluate(AXE);
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = (await page.evaluate(run)) as Violation[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 300)}\n${failureSummary}`),
  );
}
