import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { accessEntry, writeChain } from '../../../test-support/records/access-entry.ts';
import { createKeyRing, deriveKey } from '../../platform/crypto/key-ring.ts';
import { createPool, type Queryable } from '../../platform/db/database.ts';
import { createAccessLogWriter } from '../access-log/access-log.writer.ts';
import { resealAccessLog } from '../access-log/access-log-keys.ts';
import { makePartitions } from '../access-log/access-log-partition.store.ts';
import { entryHash, headSeal } from '../access-log/hash-chain.ts';
import { insertRestore } from './restore.store.ts';
import { type VerificationResult, verifyAccessLog } from './verify-access-log.ts';

const DATA_KEY = randomBytes(32);
const KEY = createKeyRing(DATA_KEY).derive('access-log');
const readKeys = async () => [KEY] as const;
const ENTRIES = 8;

const database = await createTestDatabase();
// One connection, so that begin and rollback are on the same.
const owner = createPool({ url: database.adminUrl, max: 1, applicationName: 'tamper' }, () => undefined);
await makePartitions(owner, new Date(), 2);
for (let writer = 0; writer < 3; writer += 1) await writeChain(database.pool, KEY, ENTRIES);
const { rows } = await owner.query<{ id: string }>('select id from access_log_writer order by number');
const writers = rows.map(({ id }) => id);
after(async () => {
  await owner.end();
  await database.drop();
});

describe('access-log verify', () => {
  /** What verification says after `tamper`, which is undone again. `$1` is the id of the middle writer. */
  async function afterTampering(
    tamper: string | ((run: (text: string, ...values: unknown[]) => Promise<unknown>) => Promise<unknown>),
    options?: Parameters<typeof verifyAccessLog>[2],
  ): Promise<VerificationResult> {
    await owner.query('begin');
    try {
      if (typeof tamper !== 'string') await tamper((text, ...values) => owner.query(text, values));
      else await owner.query(tamper, tamper.includes('$1') ? [writers[1]] : []);
      return await verifyAccessLog(owner, readKeys, options);
    } finally {
      await owner.query('rollback');
    }
  }

  function blames(result: VerificationResult, writerId: string | undefined, sequence?: number | null): void {
    assert.equal(result.ok, false);
    assert.equal(result.faults.length, 1, JSON.stringify(result.faults));
    assert.equal(result.faults[0]?.writerId, writerId);
    if (sequence !== undefined) assert.equal(result.faults[0]?.sequence, sequence);
  }

  test('finds nothing where nothing was done', async () => {
    const result = await verifyAccessLog(database.pool, readKeys);
    assert.deepEqual(result.faults, []);
    assert.deepEqual([result.ok, result.writers, result.entries], [true, 3, 3 * ENTRIES]);
    assert.deepEqual(
      result.heads.map(({ writerId, number, sequence }) => ({ writerId, number, sequence })),
      writers.map((writerId, index) => ({ writerId, number: index + 1, sequence: ENTRIES })),
    );
  });

  test('finds each field that was changed [LOG-15]', async () => {
    const changes = {
      organisation_id: `'${randomUUID()}'`,
      facility_id: `'${randomUUID()}'`,
      patient_id: `'${randomUUID()}'`,
      account_id: `'${randomUUID()}'`,
      action: "'encounter.search'",
      resource_type: "'Patient'",
      resource_id: 'null',
      purpose_of_use: "'PAYMENT'",
      outcome: "'refused'",
      correlation_id: "correlation_id || 'x'",
      previous_hash: "'\\x00'",
      hash: "'\\x00'",
    };
    for (const [column, value] of Object.entries(changes)) {
      const tampered = `update access_log set ${column} = ${value} where writer_id = $1 and sequence = 4`;
      blames(await afterTampering(tampered), writers[1], 4);
    }
    for (const step of ['1 millisecond', '-1 hour', '1 microsecond'])
      blames(
        await afterTampering(
          `update access_log
           set occurred_at = (occurred_at at time zone 'UTC' + interval '${step}') at time zone 'UTC'
           where writer_id = $1 and sequence = 4`,
        ),
        writers[1],
      );
    blames(
      await afterTampering(`update access_log set sequence = 400 where writer_id = $1 and sequence = 4`),
      writers[1],
    );
    const moved = `update access_log set writer_id = '${writers[2]}', sequence = 9 where writer_id = $1 and sequence = 8`;
    assert.equal((await afterTampering(moved)).ok, false);
  });

  test('finds entries that were exchanged for one another [LOG-15]', async () => {
    const swapped = await afterTampering(async (run) => {
      await run('update access_log set sequence = 100 where writer_id = $1 and sequence = 3', writers[1]);
      await run('update access_log set sequence = 3 where writer_id = $1 and sequence = 4', writers[1]);
      await run('update access_log set sequence = 4 where writer_id = $1 and sequence = 100', writers[1]);
    });
    blames(swapped, writers[1], 3);
  });

  test('finds an entry that was removed: the first, one between, the last, all [LOG-15]', async () => {
    for (const sequence of [1, 4, ENTRIES])
      blames(
        await afterTampering(`delete from access_log where writer_id = $1 and sequence = ${sequence}`),
        writers[1],
        sequence,
      );
    blames(await afterTampering('delete from access_log where writer_id = $1'), writers[1], 1);
  });

  test('finds the last entry removed although the head was put back too', async () => {
    const cut = await afterTampering(async (run) => {
      await run('delete from access_log where writer_id = $1 and sequence = $2', writers[1], ENTRIES);
      await run(
        `with last as materialized (
           select writer_id, sequence, hash from access_log where writer_id = $1 and sequence = $2
         )
         update access_log_writer w
         set last_sequence = l.sequence, last_hash = l.hash
         from last l
         where w.id = l.writer_id`,
        writers[1],
        ENTRIES - 1,
      );
    });
    blames(cut, writers[1], ENTRIES - 1);
  });

  test('finds an entry that was inserted: between, behind, before, twice [LOG-15]', async () => {
    const copy = (sequence: string, occurredAt = 'occurred_at') => `
      insert into access_log
      select organisation_id, ${occurredAt}, writer_id, ${sequence}, facility_id, patient_id, account_id, action,
        resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash
      from access_log where writer_id = $1 and sequence = 4`;
    const later = "occurred_at + interval '1 second'";
    for (const text of [copy('9'), copy('0'), copy('-1'), copy('400'), copy('4', later)])
      blames(await afterTampering(text), writers[1]);
  });

  test('finds a copy that stands where a page of the walk ends', async () => {
    const own = await createTestDatabase();
    try {
      await writeChain(own.pool, KEY, 5_001);
      const client = await own.connectOwner();
      assert.equal((await verifyAccessLog(own.pool, readKeys)).entries, 5_001);
      await client.query(`
        insert into access_log
        select organisation_id, occurred_at + interval '1 second', writer_id, sequence, facility_id, patient_id,
          account_id, action, resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash
        from access_log where sequence = 5000`);
      assert.equal((await verifyAccessLog(own.pool, readKeys)).ok, false);
      await client.end();
    } finally {
      await own.drop();
    }
  });

  test('finds a chain that someone without the key went on with [LOG-15]', async () => {
    const forged = await afterTampering(async (run) => {
      await run(
        `insert into access_log
         select organisation_id, occurred_at, writer_id, 9, facility_id, patient_id, account_id, action,
           resource_type, resource_id, purpose_of_use, outcome, correlation_id, hash, $2
         from access_log where writer_id = $1 and sequence = 8`,
        writers[1],
        randomBytes(32),
      );
      await run(
        `update access_log_writer set last_sequence = 9, last_hash = $2, head_seal = $3 where id = $1`,
        writers[1],
        randomBytes(32),
        randomBytes(32),
      );
    });
    blames(forged, writers[1], 9);
  });

  test('finds a changed head, seal, beginning or number', async () => {
    const changes = [
      "last_hash = '\\x00'",
      "head_seal = '\\x00'",
      'last_sequence = 7',
      'last_sequence = 9',
      "genesis_hash = '\\x00'",
      "started_at = started_at - interval '1 day'",
      "started_at = started_at + interval '1 microsecond'",
    ];
    for (const change of changes)
      blames(await afterTampering(`update access_log_writer set ${change} where id = $1`), writers[1]);
    const renumbered = await afterTampering('update access_log_writer set number = 40 where id = $1');
    assert.equal(renumbered.ok, false);
  });

  test('finds a writer that was removed, with its entries or without [LOG-15]', async () => {
    for (const index of [0, 1, 2]) {
      const removed = await afterTampering(async (run) => {
        await run('delete from access_log where writer_id = $1', writers[index]);
        await run('delete from access_log_writer where id = $1', writers[index]);
      });
      blames(removed, writers[index + 1] ?? writers[index - 1], null);
    }
    const all = await afterTampering(async (run) => {
      await run('delete from access_log');
      await run('delete from access_log_writer');
    });
    assert.equal(all.ok, false);
    assert.equal((await afterTampering('delete from access_log_registry')).ok, false);
    assert.equal((await afterTampering('update access_log_registry set last_number = 2')).ok, false);
    for (const id of writers) {
      const { ok, faults } = await afterTampering((run) =>
        run('delete from access_log_writer where id = $1', id),
      );
      assert.equal(ok, false);
      assert.ok(faults.some(({ writerId }) => writerId === id));
    }
  });

  test('takes seals of the newest key only: who has an older one cannot change a chain', async () => {
    const newest = randomBytes(32);
    const own = await createTestDatabase();
    try {
      await writeChain(own.pool, KEY, 2);
      const client = createPool({ url: own.adminUrl, max: 1, applicationName: 'tamper' }, () => undefined);
      const verified = () => verifyAccessLog(client, async () => [deriveKey(newest, 'access-log'), KEY]);
      assert.equal((await verified()).ok, false, 'not sealed by the newest yet');
      assert.deepEqual(await resealAccessLog(client, [newest, DATA_KEY]), {
        name: 'chains of the access log',
        resealed: 1,
        unreadable: 0,
      });
      assert.deepEqual((await verified()).faults, []);
      // All that the older key can do: an entry anew, with its hash, and the head over the last one.
      const refuse = async (sequence: number): Promise<{ writerId: string; hash: Buffer }> => {
        const { rows } = await client.query('select * from access_log where sequence = $1', [sequence]);
        const [row] = rows;
        const hash = entryHash(KEY, row.previous_hash, {
          organisationId: row.organisation_id,
          facilityId: row.facility_id,
          patientId: row.patient_id,
          accountId: row.account_id,
          action: row.action,
          resourceType: row.resource_type,
          resourceId: row.resource_id,
          purposeOfUse: row.purpose_of_use,
          outcome: 'refused',
          correlationId: row.correlation_id,
          occurredAt: row.occurred_at,
          writerId: row.writer_id,
          sequence: row.sequence,
        });
        const changed = `update access_log set outcome = 'refused', hash = $1 where sequence = $2`;
        await client.query(changed, [hash, sequence]);
        return { writerId: row.writer_id, hash };
      };
      await client.query('begin');
      await refuse(1);
      assert.deepEqual(
        (await verified()).faults.map(({ sequence, reason }) => [sequence, reason]),
        [[2, 'an entry was changed']],
        'the next one follows another',
      );
      await client.query('rollback');
      const { writerId, hash } = await refuse(2);
      const { rows: heads } = await client.query('select head_seal from access_log_writer');
      for (const seal of [heads[0].head_seal, headSeal(KEY, writerId, 2, hash)]) {
        await client.query('update access_log_writer set last_hash = $1, head_seal = $2', [hash, seal]);
        assert.deepEqual(
          (await verified()).faults.map(({ reason }) => reason),
          ['the head of the chain was changed'],
        );
      }
      assert.equal((await resealAccessLog(client, [newest])).unreadable, 1, 'what is broken stays broken');
      await client.end();
    } finally {
      await own.drop();
    }
  });

  test('finds everything changed when the key is another', async () => {
    const { ok, faults } = await verifyAccessLog(database.pool, async () => [randomBytes(32)]);
    assert.equal(ok, false);
    assert.deepEqual(
      faults.map(({ reason }) => reason),
      Array(4).fill('the registration was changed'),
      'the register of writers and each writer',
    );
  });

  test('finds the writer registered last removed, with its entries or without', async () => {
    const { heads } = await verifyAccessLog(database.pool, readKeys);
    const newest = heads.at(-1)?.writerId;
    for (const tables of [['access_log_writer'], ['access_log', 'access_log_writer']]) {
      const { ok } = await afterTampering(async (run) => {
        for (const table of tables)
          await run(`delete from ${table} where ${table === 'access_log' ? 'writer_id' : 'id'} = $1`, newest);
      });
      assert.equal(ok, false, tables.join());
    }
    assert.equal((await afterTampering((run) => run('delete from access_log_registry'))).ok, false);
    const lowered = await afterTampering((run) =>
      run('update access_log_registry set last_number = last_number - 1'),
    );
    assert.equal(lowered.ok, false);
  });

  test('tells a database that was put back to an older state, by heads noted before [LOG-16]', async () => {
    const older = await verifyAccessLog(database.pool, readKeys);
    const { rows } = await database.pool.query('select last_number, seal from access_log_registry');
    await writeChain(database.pool, KEY, 2);
    const noted = (await verifyAccessLog(database.pool, readKeys)).heads;
    assert.equal((await verifyAccessLog(database.pool, readKeys, { noted })).ok, true);
    assert.equal((await verifyAccessLog(database.pool, readKeys, { noted: older.heads })).ok, true);
    const last = noted.at(-1)?.writerId;
    const putBack = async (run: (text: string, ...values: unknown[]) => Promise<unknown>) => {
      await run('delete from access_log where writer_id = $1', last);
      await run('delete from access_log_writer where id = $1', last);
      await run(
        'update access_log_registry set last_number = $1, seal = $2',
        rows[0]?.last_number,
        rows[0]?.seal,
      );
    };
    assert.equal((await afterTampering(putBack)).ok, true, 'without the heads it cannot be told');
    blames(await afterTampering(putBack, { noted }), last, 2);
    const other = [{ writerId: String(writers[0]), sequence: 3, hash: '00'.repeat(32) }];
    blames(await verifyAccessLog(database.pool, readKeys, { noted: other }), writers[0], 3);
    // Noted twice, in two ways: whichever stands last, one of them is of a chain that was rewritten.
    const head = noted.find(({ writerId }) => writerId === last);
    const rewritten = { ...head, writerId: String(last), sequence: 2, hash: '00'.repeat(32) };
    for (const twice of [
      [...noted, rewritten],
      [rewritten, ...noted],
    ])
      blames(await verifyAccessLog(database.pool, readKeys, { noted: twice }), last, 2);
    assert.equal((await verifyAccessLog(database.pool, readKeys, { noted: [...noted, ...noted] })).ok, true);
    const same = await verifyAccessLog(database.pool, readKeys, { noted: [rewritten, rewritten] });
    assert.equal(same.faults.length, 1, 'a head that was noted twice is told once');
    const changed = { writerId: String(writers[1]), sequence: 3, hash: '00'.repeat(32) };

    // An operator put it back, and said so.
    const restoredAt = new Date();
    const restore = { id: randomUUID(), restoredAt, backupTakenAt: null };
    const restored =
      (key: Uint8Array) => async (run: (text: string, ...values: unknown[]) => Promise<unknown>) => {
        await putBack(run);
        await insertRestore(owner, key, restore);
      };
    const noticed = noted.map((head) => ({ ...head, notedAt: new Date(restoredAt.getTime() - 1) }));
    const declared = await afterTampering(restored(KEY), { noted: noticed });
    blames(declared, last, 2);
    assert.deepEqual(declared.faults[0]?.restoredAt, restoredAt);
    assert.match(String(declared.faults[0]?.reason), /put the database back/);
    const both = await afterTampering(restored(KEY), { noted: [...noticed, changed] });
    assert.deepEqual(
      both.faults.map((fault) => [fault.writerId, fault.restoredAt]),
      [
        [last, restoredAt],
        [writers[1], undefined],
      ],
      'a restore changes nothing in what it leaves',
    );
    const since = noted.map((head) => ({ ...head, notedAt: new Date(restoredAt.getTime() + 1) }));
    const again = await afterTampering(restored(KEY), { noted: since });
    blames(again, last, 2);
    assert.equal(again.faults[0]?.restoredAt, undefined, 'it explains no head that was noted later');
    const forged = await afterTampering(restored(randomBytes(32)), { noted: noticed });
    assert.deepEqual(
      forged.faults.map((fault) => [fault.writerId, fault.restoredAt]),
      [
        ['', undefined],
        [last, undefined],
      ],
      'only who has the key can say so',
    );
  });

  test('is not misled by an entry that is written between the heads and the entries', async () => {
    const written = accessEntry();
    const writer = createAccessLogWriter({
      pool: database.pool,
      chainKey: async () => KEY,
      now: () => new Date(),
      onError: (error) => assert.fail(error),
    });
    await writer.record([written]);
    let isLate = false;
    const db: Queryable = {
      async query(config) {
        if (!isLate && config.text.includes('where organisation_id = $1')) {
          isLate = true;
          await writer.record([written]);
        }
        return database.pool.query(config);
      },
    };
    const { faults, heads } = await verifyAccessLog(db, readKeys);
    assert.deepEqual(faults, []);
    assert.equal(heads.at(-1)?.sequence, 1);
    assert.equal(writer.heads()[0]?.sequence, 2);
  });

  test('is not misled by entries that are written while it reads', async () => {
    let verifying = true;
    const writing = (async () => {
      while (verifying) await writeChain(database.pool, KEY, 5);
    })();
    for (let round = 0; round < 10; round += 1)
      assert.deepEqual((await verifyAccessLog(database.pool, readKeys)).faults, []);
    verifying = false;
    await writing;
  });
});
