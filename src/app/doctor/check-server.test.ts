/** The checks of the doctor that look at the server of the database, made to fail by what they look for. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { startDatabaseProxy } from '../../../test-support/database/database-proxy.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { startReplication } from '../../../test-support/database/standby.ts';
import { administer } from '../../../test-support/database/template.ts';
import { startTransactionPooler } from '../../../test-support/database/transaction-pooler.ts';
import { runCommand, runProcess } from '../../../test-support/service/command.ts';
import {
  finding as find,
  DOCTOR_MASTER_KEY as MASTER_KEY,
  reportOf,
  says,
  useDoctor,
} from '../../../test-support/service/doctor.ts';
import { freePort } from '../../../test-support/service/free-port.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { loadConfig } from '../config/config.ts';
import { checkConnections } from './check-server.ts';

describe('interchange doctor, of the server', { timeout: 600_000 }, () => {
  const t = useDoctor();
  const { doctor, examined } = t;

  test(
    'tells of each of several servers what it is, and looks at a standby [CMD-24]',
    needsPlainPostgres('it starts two servers of its own'),
    async () => {
      const replication = await startReplication();
      try {
        const run = async (url: string) =>
          reportOf(await runCommand(['doctor', '--json'], { env: { DATABASE_URL: url, MASTER_KEY } }));
        const [primary, standby] = [replication.primaryUrl, replication.standbyUrl].map(
          (url) => new URL(url).host,
        );
        const both = find(await run(replication.url), 'database');
        assert.equal(both.outcome, 'ok');
        assert.ok(both.text.includes(`${standby} is a standby; ${primary} takes writes.`), both.text);
        const env = { DATABASE_URL: replication.primaryUrl, MASTER_KEY };
        assert.equal((await runCommand(['organisation', 'create', '--name', 'One'], { env })).code, 0);
        const onStandby = await run(replication.standbyUrl);
        assert.equal(find(onStandby, 'database').outcome, 'failed');
        const { outcome, text } = find(onStandby, 'notifications');
        assert.deepEqual(
          [outcome, text],
          ['not run', 'It was left out, because the database takes no writes.'],
        );
        assert.equal(find(onStandby, 'retention').outcome, 'not run');

        const gone = `127.0.0.1:${await freePort()}`;
        const away = find(await run(replication.url.replace(`${standby}`, gone)), 'database');
        says(away, 'warning', /takes writes/, /Start that server/);
        assert.ok(away.text.includes(`${gone} cannot be used (ECONNREFUSED)`), away.text);

        // Else commits of the old primary wait for the standby that left it.
        await administer(replication.primaryUrl, [
          'alter system reset synchronous_standby_names',
          'select pg_reload_conf()',
        ]);
        await replication.promote();
        await waitUntil(
          async () => find(await run(replication.standbyUrl), 'database').outcome === 'ok',
          'the standby takes writes',
        );
        says(
          find(await run(replication.url), 'database'),
          'failed',
          /takes writes; .* takes writes/,
          /Stop at once/,
        );
        const twice = replication.url.replace(`${standby}`, `${primary}`);
        assert.equal(find(await run(twice), 'database').outcome, 'ok', 'one server that is named twice');
      } finally {
        await replication.close();
      }
    },
  );

  test('compares the clocks [CMD-24]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-doctor-'));
    const SHIFTED_CLOCK_FILE = join(folder, 'ahead');
    await writeFile(SHIFTED_CLOCK_FILE, '4000');
    const NODE_OPTIONS = `--import ${new URL('../../../test-support/shifted-clock.js', import.meta.url).href}`;
    const ahead = await runProcess(['doctor', '--json'], {
      env: { ...t.env, NODE_OPTIONS, SHIFTED_CLOCK_FILE },
    });
    await rm(folder, { recursive: true });
    says(
      find(reportOf(ahead), 'clock'),
      'failed',
      /\d{4} s ahead of the database, and 30 s/,
      /Correct the wrong clock/,
    );
  });

  test('counts the connections that processes want [CMD-24]', async () => {
    const { outcome, text } = await examined('connections', { DATABASE_CONNECTIONS: '200' });
    const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, table = ''] = /^\| Connections \| For \|\n([\s\S]*?)\n\n/m.exec(page) ?? [];
    const further = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, count]) => Number(count));
    const all = further.reduce((sum, count) => sum + count, 200);
    assert.deepEqual([outcome, text.includes(`may open ${all} connections`)], ['failed', true], text);
  });

  test('counts the connections of another service on the same server [CMD-24]', async () => {
    const othersIn = ({ text }: { text: string }) => Number(/others have (\d+)\.$/.exec(text)?.[1]);
    const others = async () => othersIn(await examined('connections'));
    const elsewhere = await createTestDatabase();
    const clients = Array.from(
      { length: 30 },
      () => new pg.Client({ connectionString: elsewhere.url, application_name: 'interchange' }),
    );
    const plain = await t.owner.connect();
    try {
      await Promise.all(clients.map((client) => client.connect()));
      // Other tests use the same server.
      assert.ok((await others()) >= clients.length);
      // PostgreSQL tells such a user little of the connections of others.
      await plain.query('begin; create role doctor_plain; set local role doctor_plain');
      assert.ok(othersIn(await checkConnections(plain, loadConfig(t.env))) >= clients.length);
    } finally {
      await plain.query('rollback');
      plain.release();
      await Promise.all(clients.map((client) => client.end()));
      await elsewhere.drop();
    }
  });

  test('finds a pooler that shares sessions, and notifications that do not come [CMD-24]', async () => {
    const pooler = await startTransactionPooler(t.database.url);
    try {
      const report = reportOf(await doctor({ DATABASE_URL: pooler.url }, '--json'));
      says(find(report, 'pooler'), 'failed', /share one session/, /pool_mode = session/);
      says(find(report, 'notifications'), 'failed', /did not come back/, /pool_mode = session/);
    } finally {
      await pooler.close();
    }
  });

  for (const swallowed of ['pg_notify', 'listen'])
    test(`does not wait for a server that leaves ${swallowed} without an answer [CMD-24]`, async () => {
      const proxy = await startDatabaseProxy(t.database.url);
      try {
        proxy.swallow(swallowed);
        const report = reportOf(await doctor({ DATABASE_URL: proxy.url }, '--json'));
        says(find(report, 'notifications'), 'failed', /did not come back within 5 s/, /pool_mode = session/);
        assert.equal(find(report, 'schema').outcome, 'ok', 'the checks after it are made');
      } finally {
        await proxy.close();
      }
    });
});
