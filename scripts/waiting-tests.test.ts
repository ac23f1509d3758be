/** Tests wait for a condition (test-support/wait-until.ts), not for a time, and assert no time that has passed. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

/** Files that look at a clock all the same, and why. */
const EXCEPTIONS: Record<string, string> = {
  'test-support/wait-until.ts': 'looks again after a moment, and gives up in the end',
  'test-support/exchange/exchange-server.ts': 'an exchange that is slow to answer',
  'test-support/fhir-server/server.ts': 'a FHIR server that is slow to answer',
  'src/exchange/worker/send.test.ts': 'an answer that takes longer than a connection may be idle',
  'src/exchange/queue/settle-queue.test.ts': 'leases end at a time of this clock',
  'src/bin/launch.test.ts': 'a program that stays until it is told to end',
  'local-postgres/embedded-postgres-recovery.test.ts':
    'a statement that is under way when its server is killed',
  'src/platform/db/connection/database-hosts.test.ts': 'a statement whose answer does not come in time',
  'src/platform/db/connection/live-connection.test.ts': 'a statement whose answer does not come',
  'src/tenancy/organisations/organisation-work.test.ts': 'an organisation that is slow by this clock',
  'test-support/database/failing-organisation.ts': 'a database that hangs for one organisation',
  'src/platform/db/database.test.ts': 'a statement that its time limit ends',
  'src/platform/db/unavailable.test.ts': 'a statement that is under way when its connection is ended',
};

const CLOCKS = [
  /import[^;]*\bset(?:Timeout|Interval)\b[^;]*'node:timers\/promises'/,
  /import[^;]*\bscheduler\b[^;]*'node:timers\/promises'/,
  /(?<![.\w])set(?:Timeout|Interval)\(/,
  /\bpg_sleep/,
  /\bperformance\.now\b/,
  /\bhrtime\b/,
  // A page of Playwright that waits for a time.
  /\.waitForTimeout\(/,
  // An age, or a deadline.
  /\bDate\.now\(\) [-<>]/,
];

function looksAtClock(text: string): boolean {
  return CLOCKS.some((clock) => clock.test(text));
}

describe('tests wait for no clock', () => {
  const files = globSync(
    ['{src,local-postgres,tools,test,scripts,bench,soak,web/src}/**/*.test.ts', 'test-support/**/*.{ts,js}'],
    {
      exclude: ['scripts/waiting-tests.test.ts'],
    },
  );

  test('but for those that are named here', () => {
    assert.ok(files.length > 100);
    const found = files.filter((file) => looksAtClock(readFileSync(file, 'utf8')));
    assert.deepEqual(found.sort(), Object.keys(EXCEPTIONS).sort());
  });

  for (const text of [
    "import { setTimeout as sleep } from 'node:timers/promises';",
    "import { setImmediate, setInterval } from 'node:timers/promises';",
    "import { scheduler } from 'node:timers/promises';",
    'await new Promise((resolve) => setTimeout(resolve, 5));',
    'const timer = setInterval(look, 5);',
    "await pool.query('select pg_sleep(1)');",
    'const began = performance.now();',
    'assert.ok(Date.now() - began < 1_000);',
    'while (Date.now() < end) await look();',
    'assert.ok(process.hrtime.bigint() < end);',
    'await page.waitForTimeout(500);',
  ])
    test(`finds ${text}`, () => assert.ok(looksAtClock(text)));

  for (const text of [
    "import { setImmediate as turn } from 'node:timers/promises';",
    'socket.setTimeout(1_000, close);',
    'const at = new Date(Date.now() + 3_600_000);',
    'await clock.sleep(15_000);',
  ])
    test(`lets ${text} be`, () => assert.ok(!looksAtClock(text)));
});
