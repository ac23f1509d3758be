/**
 * What each page moves by itself while it loads, as browsers measure it. Every answer of the service comes alone, when what
 * came before it is drawn: so a page that jumps does so each time, however quick the machine is.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../test-support/exchange/exchange-records.ts';
import { holdDeliveries } from '../../../test-support/exchange/held-deliveries.ts';
import { type SeededRecords, seedRecords } from '../../../test-support/records/seed-tenant.ts';
import type { Tenant, TestApi } from '../../../test-support/service/api.ts';
import { NO_BROWSER, useConsole } from '../../../test-support/service/console-page.ts';

/** The bound of "good" in Core Web Vitals: https://web.dev/articles/cls. */
const GOOD = 0.1;

const MEASURE = `
  (() => {
    window.shifts = [];
    let answersToCome = 0;
    new PerformanceObserver((list) => {
      for (const { hadRecentInput, value, sources } of list.getEntries())
        if (!hadRecentInput)
          window.shifts.push({ value, what: sources.map(({ node }) => (node?.outerHTML ?? '').slice(0, 120)) });
    }).observe({ type: 'layout-shift', buffered: true });
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const ask = window.fetch;
    let last = Promise.resolve();
    window.fetch = async (...call) => {
      answersToCome += 1;
      try {
        const answer = await ask(...call);
        await (last = last.then(drawn));
        return answer;
      } finally {
        answersToCome -= 1;
      }
    };
    const isComing = () =>
      answersToCome > 0 ||
      document.querySelector('h1') === null ||
      document.querySelector('[aria-busy="true"]') !== null;
    window.loaded = async () => {
      for (let stillFor = 0; stillFor < 3; stillFor += 1) {
        await drawn();
        if (isComing()) stillFor = -1;
      }
    };
  })()`;

interface Shift {
  value: number;
  what: string[];
}

describe('while a page loads', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  for (const width of [1280, 360])
    test(`nothing on it jumps where the screen is ${width} px wide [WEB-68]`, async (t) => {
      const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
      const records = await fill(web.api, tenant);
      const { page } = await web.open(t, '/', { tenant });
      await page.getByRole('heading', { level: 1 }).waitFor();
      const paths = await pathsOf(page, records);
      assert.ok(paths.length > 25, paths.join());
      await page.setViewportSize({ width, height: 800 });
      await page.addInitScript(MEASURE);
      const jumped: { path: string; by: number; shifts: Shift[] }[] = [];
      for (const path of paths) {
        await page.goto(`${web.api.origin}/console${path}`);
        await page.evaluate('window.loaded()');
        const shifts = (await page.evaluate('window.shifts')) as Shift[];
        const by = shifts.reduce((sum, { value }) => sum + value, 0);
        if (by > GOOD) jumped.push({ path, by, shifts });
      }
      assert.deepEqual(jumped, []);
    });
});

/** Every page, as the router tells them to whoever looks at it in the browser; of one thing, that of a record. */
async function pathsOf(page: Page, records: SeededRecords): Promise<string[]> {
  const paths = (await page.evaluate(
    `Object.values(window.__TSR_ROUTER__.routesById)
       .filter((route) => route.options.staticData?.page !== undefined)
       .map((route) => route.fullPath)`,
  )) as string[];
  const ids: Partial<Record<string, string>> = { ...records, kind: 'labs', recordId: records.labOrderId };
  return paths.map((path) => path.replaceAll(/\$(\w+)/g, (_, name: string) => ids[name] ?? name));
}

/** Something in every list, and something that needs somebody. */
async function fill(api: TestApi, tenant: Tenant): Promise<SeededRecords> {
  const { pool } = api.database;
  const records = await seedRecords(pool, tenant);
  await holdDeliveries(api, tenant, { count: 12 });
  const address = 'https://regional.example.org/patients';
  await connect({ pool, keys: api.keys }, tenant, { name: 'Regional exchange', address });
  await api.createAccount(tenant, { mustChangePassword: true });
  return records;
}
