/** What the log says of one outage of the database. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { createTestDatabase } from '../test-support/database/database.ts';
import { startDatabaseProxy } from '../test-support/database/database-proxy.ts';
import { startCommand } from '../test-support/service/command.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const RUNBOOK = readFileSync(new URL('../docs/runbook.md', import.meta.url), 'utf8');

const database = await createTestDatabase();
const proxy = await startDatabaseProxy(database.url);
after(async () => {
  await proxy.close();
  await database.drop();
});

test('an outage of the database is one line with a count, and no trace of where each connection waited [OPS-40]', async () => {
  const service = startCommand(['serve'], {
    env: {
      DATABASE_URL: proxy.url,
      MASTER_KEY: randomBytes(32).toString('hex'),
      PORT: '0',
      LOG_LEVEL: 'info',
    },
  });
  try {
    const [listening] = await service.printed(/.*"event":"listening".*/);
    const { port } = JSON.parse(listening) as { port: number };
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200;
    await waitUntil(isReady, 'it is ready');
    await proxy.cut();
    await service.printed(/"event":"database.connections-lost"/);
    await waitUntil(async () => !(await isReady()), 'it says so');
    await proxy.mend();
    await waitUntil(isReady, 'it is ready again');
    service.child.kill('SIGTERM');
    const { stdout } = await service.ended;
    const lines = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.filter(({ stack }) => stack !== undefined),
      [],
    );
    const [, level] = /lines of level (\d+) with a `code`/.exec(RUNBOOK) ?? [];
    assert.ok(
      lines.some((line) => line.code === 'database' && line.level === Number(level)),
      stdout,
    );
    const told = lines.filter(({ event }) => event === 'database.connections-lost');
    assert.equal(told.length, 1);
    assert.ok(told[0].count >= 3, `${told[0].count} connections`);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
  }
});
