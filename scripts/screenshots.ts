/**
 * npm run screenshots [-- PATH...]: every page of the console, light and dark, wide and narrow, with the records of the demo,
 * into screenshots/. With paths (`exchange`), these pages alone. The list of pages is that of the console's router; a page of
 * one thing, such as /people/$accountId, is reached by the first link to one.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { startBrowser } from '../test-support/service/browser.ts';
import { freePort } from '../test-support/service/free-port.ts';

const FOLDER = 'screenshots';
const LAUNCHER = 'src/bin/launch.js';
const WIDTHS = { wide: 1280, narrow: 360 };
const EMAIL = 'screens@example.org';
const PASSWORD = 'several words for one password';

interface Demo {
  origin: string;
  organisationId: string;
  facilityId: string;
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const demo = await startDemo();
try {
  addPerson(demo);
  await mkdir(FOLDER, { recursive: true });
  const browser = await startBrowser();
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ colorScheme, locale: 'en-GB', reducedMotion: 'reduce' });
      await takeAll(context, demo.origin, colorScheme);
      await context.close();
    }
  } finally {
    await browser.close();
  }
} finally {
  await demo.stop();
}

async function startDemo(): Promise<Demo> {
  execFileSync(process.execPath, ['web/prepare.js', '--if-needed'], { stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'screenshots-'));
  const port = await freePort();
  const env = {
    ...process.env,
    DATA_DIR: folder,
    PORT: String(port),
    PUBLIC_BASE_URL: '',
    DRAIN_SECONDS: '0',
  };
  const child = spawn(process.execPath, [LAUNCHER, 'demo', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const facts = JSON.parse(await firstDocument(child)) as Pick<Demo, 'organisationId' | 'facilityId'>;
  return {
    ...facts,
    env,
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function firstDocument(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.endsWith('}\n')) break;
  }
  // What follows is read by nobody.
  child.stdout?.resume();
  return text;
}

/** Somebody who may open every page. */
function addPerson({ organisationId, facilityId, env }: Demo): void {
  const run = (args: string[], input = '') =>
    execFileSync(process.execPath, [LAUNCHER, ...args], { env, input, stdio: ['pipe', 'ignore', 'inherit'] });
  const at = ['--organisation', organisationId];
  run([
    'role',
    'create',
    ...at,
    '--name',
    'Administrator',
    '--permissions',
    Object.keys(PERMISSIONS).join(','),
  ]);
  const who = ['--email', EMAIL, '--role', 'Administrator', '--type', 'STAFF', '--password-stdin'];
  run(['account', 'create', ...at, '--facility', facilityId, ...who], `${PASSWORD}\n`);
}

async function takeAll(context: BrowserContext, origin: string, scheme: string): Promise<void> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`${origin}/console/`);
  await page.getByLabel('Email').waitFor();
  await take(page, `sign-in-${scheme}`);
  await page.getByLabel('Email').fill(EMAIL);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').first().waitFor();
  const wanted = process.argv.slice(2);
  const paths = await pathsOf(page);
  for (const path of paths) {
    const name = path.replaceAll('/', ' ').replaceAll('$', '').trim().replaceAll(' ', '-') || 'overview';
    if (wanted.length > 0 && !wanted.some((one) => name.startsWith(one))) continue;
    if (await open(page, origin, path, paths)) await take(page, `${name}-${scheme}`);
    else process.stderr.write(`${path}: no link leads there.\n`);
  }
}

/** The router tells its pages to whoever looks at it in the browser. */
async function pathsOf(page: Page): Promise<string[]> {
  return (await page.evaluate(
    `Object.values(window.__TSR_ROUTER__.routesById)
       .filter((route) => route.options.staticData?.page !== undefined)
       .map((route) => route.fullPath)`,
  )) as string[];
}

/** False when no link leads to a page of one thing. Its list is a page, such as /people, or that above it. */
async function open(page: Page, origin: string, path: string, paths: readonly string[]): Promise<boolean> {
  const [list = '', parameter] = path.split('/$');
  const from = parameter === undefined || paths.includes(list) ? list : list.slice(0, list.lastIndexOf('/'));
  await page.goto(`${origin}/console${from}`);
  await settled(page);
  if (parameter === undefined) return true;
  const wanted = new RegExp(`^/console${path.replaceAll(/\$\w+/g, '[^/]+')}$`);
  for (const link of await page.locator('main a[href]').all()) {
    const { pathname } = new URL((await link.getAttribute('href')) ?? '', page.url());
    if (!wanted.test(pathname) || paths.includes(pathname.replace('/console', ''))) continue;
    await link.click();
    await settled(page);
    return true;
  }
  return false;
}

async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
}

async function take(page: Page, name: string): Promise<void> {
  for (const [size, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: 860 });
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    await page.screenshot({ path: join(FOLDER, `${name}-${size}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: WIDTHS.wide, height: 860 });
}
