/** Statements that take too long: cut off where a caller waits, and not where work is long by its nature. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { buildWorker } from '../src/app/build-worker.ts';
import { housekeepingSteps } from '../src/app/features.ts';
import { makePartitions } from '../src/privacy/access-log/access-log-partition.store.ts';
import { sampleBundle } from '../test-support/records/sample-bundle.ts';
import { type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import {
  type Answer,
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
} from '../test-support/service/api.ts';
import { waitForLock, waitUntil } from '../test-support/wait-until.ts';

for (const [what, env] of [
  ['a statement', { DATABASE_STATEMENT_SECONDS: '1', DATABASE_LOCK_SECONDS: '0' }],
  ['a wait for a lock', { DATABASE_STATEMENT_SECONDS: '0', DATABASE_LOCK_SECONDS: '1' }],
] as const)
  describe(`${what} of a request that takes too long`, () => {
    let api: TestApi;
    let tenant: Tenant;
    let account: TestAccount;
    let seeds: SeededRecords;
    let other: pg.Client;
    let watcher: pg.Client;
    before(async () => {
      api = await startTestApi({ env });
      tenant = await api.createTenant();
      account = await api.createAccount(tenant);
      seeds = await seedRecords(api.database.pool, tenant);
      [other, watcher] = [api.database.adminUrl, api.database.adminUrl].map(
        (connectionString) => new pg.Client({ connectionString }),
      ) as [pg.Client, pg.Client];
      await Promise.all([other.connect(), watcher.connect()]);
    });
    after(async () => {
      await Promise.all([other.end(), watcher.end()]);
      await api.close();
    });

    const call = (method: string, path: string, body?: unknown) =>
      api.call(path, { method, token: account.token, ...(body === undefined ? {} : { body }) });

    test('is cut off: 503, when to try again, and the connection goes on [HTTP-24]', async () => {
      const calls: [string, string, unknown][] = [
        ['PUT', `/patients/base/${seeds.patientId}/privacy`, { refusedPurposes: ['RESEARCH'] }],
        ['GET', `/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`, undefined],
      ];
      await other.query('begin');
      await other.query('lock table patient, encounter in access exclusive mode');
      for (const [method, path, body] of calls) isTooSlow(await call(method, path, body));
      await other.query('rollback');
      for (const [method, path, body] of calls) assert.equal((await call(method, path, body)).status, 200);
    });

    test('is cut off in the access log, too: no trace, no data [LOG-10]', async () => {
      await other.query('begin');
      await other.query('lock table access_log in share mode');
      const path = `/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`;
      const { status, json } = await call('GET', path);
      assert.equal(status, 503);
      assert.match(json.message, /access log could not be written/);
      await other.query('rollback');
      assert.equal((await call('GET', path)).status, 200);
      const failures = api
        .logs()
        .split('\n')
        .filter((line) => /access log not written|organisation-work\.failing.*access-log/.test(line));
      assert.ok(failures.length > 0);
      for (const line of failures) assert.match(line, /"errorCode":"5(7014|5P03)"/, 'PostgreSQL cut it off');
    });

    test('is cut off where a process begins its part of the access log [LOG-10]', async () => {
      const node = await api.addNode();
      await other.query('begin');
      await other.query('lock table access_log_registry in access exclusive mode');
      const path = `/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`;
      const { status, json } = await node.call(path, { token: account.token });
      assert.equal(status, 503);
      assert.match(json.message, /access log could not be written/);
      await other.query('rollback');
      assert.equal((await node.call(path, { token: account.token })).status, 200);
      await node.close();
    });

    test('does not cut off an import', async () => {
      await other.query('begin');
      await other.query('lock table patient in access exclusive mode');
      const importing = call('POST', '/imports/fhir', sampleBundle());
      await waitForLock(watcher, { application: 'interchange background' });
      isTooSlow(await call('PUT', `/patients/base/${seeds.patientId}/privacy`, { refusedPurposes: [] }));
      await other.query('rollback');
      const { status, json } = await importing;
      assert.deepEqual([status, json.rejected], [200, []]);
    });

    test('does not cut off housekeeping', async () => {
      await other.query('begin');
      await other.query('lock table patient, sign_in_counter in access exclusive mode');
      const sweeping = Promise.all(housekeepingSteps(api.runtime).map((step) => step.run(api.clock.now)));
      await waitForLock(watcher, { application: 'interchange background' });
      isTooSlow(await call('PUT', `/patients/base/${seeds.patientId}/privacy`, { refusedPurposes: [] }));
      await other.query('rollback');
      await sweeping;
    });
  });

describe('work that no caller waits for', { timeout: 60_000 }, () => {
  async function withLocked(
    table: string,
    env: Record<string, string>,
    work: (api: TestApi) => Promise<void>,
  ): Promise<void> {
    const api = await startTestApi({ env });
    const other = await api.database.connectOwner();
    try {
      await other.query('begin');
      await other.query(`lock table ${table} in access exclusive mode`);
      await work(api);
    } finally {
      await other.end();
      await api.close();
    }
  }

  test('is cut off where it takes longer than such work may: deliveries', () =>
    withLocked('exchange_connection_directory', { DATABASE_LONG_STATEMENT_SECONDS: '1' }, async (api) => {
      const worker = buildWorker(api.runtime, []);
      worker.start();
      try {
        await waitUntil(() => /"event":"delivery\.poll".*"errorCode":"5(5P03|7014)"/.test(api.logs()));
      } finally {
        await worker.stop();
      }
    }));

  test('keeps those who write the access log waiting no longer than a request may wait: the making of a month', () =>
    withLocked('access_log_default', { DATABASE_LOCK_SECONDS: '1' }, async (api) => {
      const month = new Date('2035-01-01T00:00:00Z');
      await assert.rejects(makePartitions(api.runtime.owner, month, 1), { code: '55P03' });
    }));
});

function isTooSlow({ status, json, headers }: Answer): void {
  assert.equal(status, 503);
  assert.match(json.message, /took too long/);
  assert.ok(Number(headers.get('retry-after')) > 0);
}
