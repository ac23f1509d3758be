import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import { accessEntry } from '../../../test-support/records/access-entry.ts';
import { answered } from '../../../test-support/service/worded-errors.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { verifyAccessLog } from '../verification/verify-access-log.ts';
import type { AccessEntry } from './access-log.ts';
import { type AccessLogWriter, createAccessLogWriter } from './access-log.writer.ts';
import { makePartitions } from './access-log-partition.store.ts';

const KEY = randomBytes(32);
const ORGANISATION = randomUUID();
const NOW = new Date('2026-03-15T12:00:00.123Z');

describe('the access log', () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let writer: AccessLogWriter;
  let groups: number[];
  let errors: Error[];

  before(async () => {
    database = await createTestDatabase();
    owner = await database.connectOwner();
    await makePartitions(owner, NOW, 2);
    groups = [];
    errors = [];
    writer = newWriter();
  });
  after(async () => {
    await writer.close();
    await owner.end();
    await database.drop();
  });

  const newWriter = (changes: Partial<Parameters<typeof createAccessLogWriter>[0]> = {}) =>
    createAccessLogWriter({
      pool: database.pool,
      chainKey: async () => KEY,
      now: () => NOW,
      onError: (error) => errors.push(error),
      onGroup: (entries) => groups.push(entries),
      ...changes,
    });

  async function count(correlationId: string): Promise<number> {
    const { rows } = await database.pool.query<{ n: number }>(
      'select count(*) as n from access_log where correlation_id = $1',
      [correlationId],
    );
    return rows[0]?.n ?? 0;
  }

  async function writerOf({ correlationId }: AccessEntry): Promise<string | undefined> {
    const { rows } = await database.pool.query<{ writer_id: string }>(
      'select writer_id from access_log where correlation_id = $1',
      [correlationId],
    );
    return rows[0]?.writer_id;
  }

  const verify = () => verifyAccessLog(database.pool, async () => [KEY]);

  test('has written an entry, in every field, before the promise resolves [LOG-8, LOG-9]', async () => {
    const written = entry({ resourceId: null, outcome: 'refused', purposeOfUse: 'RESEARCH' });
    await writer.record([written]);
    const { rows } = await database.pool.query('select * from access_log where correlation_id = $1', [
      written.correlationId,
    ]);
    assert.equal(rows.length, 1);
    const { writer_id, sequence, previous_hash, hash, ...columns } = rows[0];
    assert.deepEqual(columns, {
      organisation_id: written.organisationId,
      occurred_at: NOW,
      facility_id: written.facilityId,
      patient_id: written.patientId,
      account_id: written.accountId,
      action: 'encounter.read',
      resource_type: 'Encounter',
      resource_id: null,
      purpose_of_use: 'RESEARCH',
      outcome: 'refused',
      correlation_id: written.correlationId,
    });
    assert.equal(sequence, 1);
    assert.ok(writer_id && previous_hash.length === 32 && hash.length === 32);
  });

  test('takes ids in either case, as they are the same', async () => {
    const written = entry({});
    const { organisationId, facilityId, patientId, accountId, resourceId } = written;
    await writer.record([
      {
        ...written,
        organisationId: organisationId.toUpperCase(),
        facilityId: facilityId.toUpperCase(),
        patientId: patientId.toUpperCase(),
        accountId: accountId.toUpperCase(),
        resourceId: String(resourceId).toUpperCase(),
      },
    ]);
    assert.equal((await verify()).ok, true);
  });

  test('writes the entries of waiting requests together, each of them before its promise [LOG-11]', async () => {
    groups.length = 0;
    const ids = Array.from({ length: 500 }, () => randomUUID());
    await Promise.all(
      ids.map(async (correlationId) => {
        await writer.record([entry({ correlationId }), entry({ correlationId })]);
        assert.equal(await count(correlationId), 2);
      }),
    );
    assert.equal(
      groups.reduce((sum, size) => sum + size, 0),
      1_000,
    );
    assert.ok(groups.length <= 10, `${groups.length} statements for 500 requests`);
  });

  test('gathers the next group while one is being written', async () => {
    groups.length = 0;
    const waves = Array.from({ length: 40 }, async (_, wave) => {
      for (let turn = 0; turn < wave; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(Array.from({ length: 10 }, () => writer.record([entry()])));
    });
    await Promise.all(waves);
    assert.equal(
      groups.reduce((sum, size) => sum + size, 0),
      400,
    );
    assert.ok(groups.length < 40, `${groups.length} statements for 40 waves`);
  });

  test('splits what is too much for one statement', async () => {
    groups.length = 0;
    await Promise.all(
      Array.from({ length: 30 }, () => writer.record(Array.from({ length: 100 }, () => entry()))),
    );
    assert.deepEqual(groups, [2_000, 1_000]);
  });

  test('resolves at once for no entries', async () => {
    groups.length = 0;
    await writer.record([]);
    assert.deepEqual(groups, []);
  });

  test('keeps one chain for each writer [LOG-14]', async () => {
    const writers = [newWriter(), newWriter(), newWriter()];
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => writers[index % 3]?.record([entry(), entry()])),
    );
    await Promise.all(writers.map((each) => each.close()));
    const result = await verify();
    assert.deepEqual(result.faults, []);
    assert.ok(result.writers >= 4);
  });

  test('rejects with 503 when it cannot write, writes nothing, and goes on in the same chain [LOG-10]', async () => {
    const own = newWriter();
    await own.record([entry()]);
    const before = await verify();
    const lost = entry();
    await owner.query(`revoke insert on access_log from ${SERVICE_ROLE}`);
    try {
      for (let attempt = 0; attempt < 5; attempt += 1)
        await assert.rejects(
          answered(() => own.record([lost])),
          { statusCode: 503, code: 'access_log' },
        );
    } finally {
      await owner.query(`grant insert on access_log to ${SERVICE_ROLE}`);
    }
    assert.equal(await count(lost.correlationId), 0);
    await own.record([entry()]);
    const result = await verify();
    assert.deepEqual(result.faults, []);
    assert.equal(result.writers, before.writers);
    assert.equal(result.entries, before.entries + 1);
  });

  test('shares the connection of others only for organisations that answer, as far as it knows [LOG-20]', async () => {
    const shared = watchPool(database.pool);
    const own = newWriter({ connection: () => shared.db });
    const [first, second] = [entry(), entry({ organisationId: randomUUID() })];
    const sharedBy = async (one: AccessEntry) => {
      const before = shared.statements.length;
      await own.record([one]).catch(() => undefined);
      return shared.statements.length > before;
    };
    assert.deepEqual([await sharedBy(first), await sharedBy(first)], [false, true]);
    assert.deepEqual([await sharedBy(second), await sharedBy(second)], [false, true]);
    const refused = entry({ organisationId: randomUUID(), outcome: 'neither' as never });
    assert.equal(await sharedBy(refused), false);
    assert.deepEqual(
      [await sharedBy(second), await sharedBy(first)],
      [false, false],
      'each is tried apart again',
    );
    assert.deepEqual([await sharedBy(second), await sharedBy(first)], [true, true]);
  });

  test('says what the database refused to nobody but onError', async () => {
    const own = newWriter();
    errors.length = 0;
    await assert.rejects(own.record([entry({ outcome: 'neither' as never })]), (error: Error) => {
      assert.doesNotMatch(error.message, /check|constraint|insert/i);
      return true;
    });
    assert.ok(errors.length > 0);
    await own.record([entry()]);
    assert.equal((await verify()).ok, true);
  });

  test('starts another chain when someone moved its head', async () => {
    const own = newWriter();
    const first = entry();
    await own.record([first]);
    const id = await writerOf(first);
    await owner.query('begin');
    await owner.query('update access_log_writer set last_sequence = 7 where id = $1', [id]);
    await owner.query('commit');
    const second = entry();
    await own.record([second]);
    assert.notEqual(await writerOf(second), id);
    assert.equal((await verify()).ok, false);
    await owner.query('update access_log_writer set last_sequence = 1 where id = $1', [id]);
    assert.equal((await verify()).ok, true);
  });

  test('leaves good chains, and no entry unwritten, when its connections are killed at any moment [LOG-17]', async () => {
    const pool = createPool(
      { url: database.url, max: 4, applicationName: 'killed', role: SERVICE_ROLE },
      () => undefined,
    );
    const own = newWriter({ pool });
    const written: string[] = [];
    let refused = 0;
    const load = Array.from({ length: 6 }, async () => {
      for (let round = 0; round < 80; round += 1) {
        const one = entry();
        await answered(() => own.record([one])).then(
          () => written.push(one.correlationId),
          (error: { statusCode?: number }) => {
            assert.equal(error.statusCode, 503);
            refused += 1;
          },
        );
      }
    });
    const killing = (async () => {
      for (let kill = 0; kill < 15; kill += 1) {
        await owner.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'killed'`,
        );
        await waitUntil(() => written.length + refused >= 30 * kill, 'entries were taken since');
      }
    })();
    await Promise.all([...load, killing]);
    await own.close();
    await pool.end();
    for (const id of written) assert.ok((await count(id)) >= 1);
    assert.equal(written.length + refused, 480);
    const result = await verify();
    assert.deepEqual(result.faults, []);
  });

  test('gives the service no way to change or remove an entry, or to go round the table [LOG-12]', async () => {
    const one = entry();
    await writer.record([one]);
    const { rows } = await owner.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'access_log'::regclass",
    );
    assert.ok(rows.length >= 3);
    const refused = [
      "update access_log set outcome = 'refused'",
      'update access_log set correlation_id = correlation_id where false',
      'delete from access_log',
      'truncate access_log',
      'drop table access_log',
      'alter table access_log add column x text',
      'delete from access_log_writer',
      'truncate access_log_writer',
      'create table sneaky partition of access_log default',
      ...rows.flatMap(({ name }) => [
        `select * from ${name}`,
        `insert into ${name} select * from access_log limit 1`,
        `update ${name} set outcome = 'refused'`,
        `delete from ${name}`,
        `truncate ${name}`,
        `drop table ${name}`,
      ]),
    ];
    for (const text of refused)
      await assert.rejects(database.pool.query(text), { code: /^42(501|809|P17)$|^42501$/ }, text);
  });
});

function entry(changes: Partial<AccessEntry> = {}): AccessEntry {
  return accessEntry({ organisationId: ORGANISATION, ...changes });
}
