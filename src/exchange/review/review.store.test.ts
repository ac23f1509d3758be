import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { neverAnalyze } from '../../../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { rowsRead, tellRead } from '../../../test-support/database/rows-read.ts';
import {
  connect,
  insertPatients,
  type Place,
  queue,
  rename,
} from '../../../test-support/exchange/exchange-records.ts';
import { refuseDue } from '../../../test-support/exchange/held-deliveries.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool } from '../../platform/db/database.ts';
import { enqueuePatientChanges } from '../queue/enqueue-patient-changes.ts';
import { type ConnectionKey, leaseDue } from '../queue/lane.store.ts';
import { type DeliveryResult, settle } from '../queue/settle.store.ts';
import { listDeliveries } from './delivery.store.ts';
import { type Decision, decide, heldDeliveries, knownDeliveries } from './review.store.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');

const database = await useTestDatabase();
const owner = await database.connectOwner();
await neverAnalyze(owner);

const SKIP: Decision = { action: 'skip', reason: 'wrong', accountId: null };
const REPLAY: Decision = { action: 'replay', reason: null, accountId: null };

async function setUp(): Promise<{ place: Place; key: ConnectionKey; patientId: string }> {
  const { pool } = database;
  const place = await createPlace(pool);
  const keys = createKeyRing(randomBytes(32));
  const { id } = await connect({ pool, keys }, place, { address: 'https://hie.example.org' });
  const [patientId = ''] = await insertPatients(pool, place, 1);
  await queue(pool, place, [patientId]);
  return { place, key: { organisationId: place.organisationId, connectionId: id }, patientId };
}

/** Lease the delivery that is next, and settle it. */
async function end(key: ConnectionKey, next: DeliveryResult['next'], outcome: 'refused' | 'delivered') {
  const token = randomUUID();
  const [leased] = await leaseDue(database.pool, key, { token, durationMs: 60_000, limit: 1 });
  assert.ok(leased);
  const { patientId, sequence } = leased;
  const status = outcome === 'delivered' ? 201 : 422;
  const rest = { nonce: randomUUID(), durationMs: 1, outcome, status, failure: null, responseHash: null };
  const attempt = { ...rest, startedAt: new Date() };
  const result = { patientId, sequence, leaseToken: token, next, attempt, counted: true };
  const { moved } = await settle(database.pool, key, [result]);
  assert.equal(moved.size, 1);
}

const hold = (key: ConnectionKey) => end(key, { kind: 'hold', reason: 'refused_422' }, 'refused');

async function statuses({ organisationId }: Place): Promise<string[]> {
  const found = await listDeliveries(database.pool, { organisationId }, { filter: {}, limit: 10 });
  return found.toSorted((a, b) => a.sequence - b.sequence).map(({ status }) => status);
}

describe('a decision about a held delivery', () => {
  test('made while a change of the patient is under way lets the lane go on with that change', async () => {
    const { place, key, patientId } = await setUp();
    await hold(key);
    const decided = await callDuring(database.pool, {
      change: async (client) => {
        await client.query('update patient_name set given = $2 where patient_id = $1', [
          patientId,
          ['Other'],
        ]);
        await client.query('update patient set version = version + 1 where id = $1', [patientId]);
        await enqueuePatientChanges(client, place, [{ patientId, event: 'updated' }]);
      },
      call: () => decide(database.pool, place, { filter: {}, decision: SKIP }),
    });
    assert.equal(decided.length, 1);
    assert.deepEqual(await statuses(place), ['skipped', 'queued']);
  });

  test('is recorded only as often as it was done [EXC-31]', async () => {
    const { place, key } = await setUp();
    await hold(key);
    const decided = await Promise.all(
      [1, 2].map(() => decide(database.pool, place, { filter: {}, decision: SKIP })),
    );
    assert.deepEqual(decided.map((ids) => ids.length).toSorted(), [0, 1]);
    const { rows } = await database.pool.query(
      'select action from exchange_review where organisation_id = $1',
      [key.organisationId],
    );
    assert.equal(rows.length, 1);
  });

  for (const [what, change] of [
    ['replayed', 'held_at = null, held_reason = null, due_at = now()'],
    ['held anew for another reason', `held_reason = 'refused_409'`],
  ] as const)
    test(`leaves out what was ${what} while it waited for the lock [EXC-31]`, async () => {
      const { place, key } = await setUp();
      await queue(database.pool, place, await insertPatients(database.pool, place, 1));
      await refuseDue(database.pool, key, 2);
      const [first, second] = await listDeliveries(database.pool, place, { filter: {}, limit: 2 });
      const filter = { heldReason: 'refused_422' };
      const decided = await callDuring(database.pool, {
        change: (client) =>
          client.query(`update exchange_head set ${change} where patient_id = $1`, [first?.patientId]),
        call: () => decide(database.pool, place, { filter, decision: REPLAY }),
      });
      assert.deepEqual(decided, [second?.id]);
    });

  test('is later than one that was made while it waited for the lock', async () => {
    const { place, key } = await setUp();
    await queue(database.pool, place, await insertPatients(database.pool, place, 1));
    await refuseDue(database.pool, key, 2);
    const held = await listDeliveries(database.pool, place, { filter: {}, limit: 2 });
    const [first, second] = held.toSorted((a, b) => (a.patientId < b.patientId ? -1 : 1));
    const ids = [second?.id ?? ''];
    const skipped = await callDuring(database.pool, {
      change: (client) =>
        client.query('select from exchange_head where patient_id = $1 for update', [first?.patientId]),
      call: () => decide(database.pool, place, { filter: {}, decision: SKIP }),
      meanwhile: async () => {
        assert.deepEqual(await decide(database.pool, place, { filter: { ids }, decision: REPLAY }), ids);
        await hold(key);
      },
    });
    assert.equal(skipped.length, 2);
    assert.deepEqual(await statuses(place), ['skipped', 'skipped']);
  });

  test('tells a delivery that was delivered after all from one that was skipped', async () => {
    const { place, key, patientId } = await setUp();
    await rename(database.pool, place, [patientId], 'second');
    await hold(key);
    const [held] = await listDeliveries(database.pool, place, { filter: {}, status: 'held', limit: 1 });
    // As it may stand in a ledger: a skip that came to nothing, before the replay that was delivered.
    await database.pool.query(
      `insert into exchange_review (organisation_id, connection_id, patient_id, sequence, id, delivery_id, action)
       values ($1, $2, $3, 1, $4, $5, 'skip')`,
      [key.organisationId, key.connectionId, patientId, randomUUID(), held?.id],
    );
    await decide(database.pool, place, { filter: {}, decision: REPLAY });
    await end(key, { kind: 'advance' }, 'delivered');
    assert.deepEqual(await statuses(place), ['delivered', 'queued']);
    await hold(key);
    await decide(database.pool, place, { filter: {}, decision: SKIP });
    assert.deepEqual(await statuses(place), ['delivered', 'skipped']);
  });
});

for (const decision of [REPLAY, SKIP])
  test(
    `a ${decision.action} looks up the delivery that its lane goes on with by its key`,
    PLAIN,
    async () => {
      const { pool, url } = database;
      const { place, key } = await setUp();
      const patientIds = await insertPatients(pool, place, 200);
      await queue(pool, place, patientIds);
      await refuseDue(pool, key, 201);
      await rename(pool, place, patientIds, 'second');
      const [held] = await listDeliveries(pool, place, { filter: {}, status: 'held', limit: 1 });
      assert.ok(held);
      // A planner that takes the organisation for one row reads all its deliveries for a join. Here it does so by force, and
      // on one connection, which tells what it read.
      const settingsOn = async () => ({ enable_nestloop: 'off', enable_seqscan: 'off' });
      const one = createPool({ url, max: 1, applicationName: 'test', settingsOn }, () => undefined);
      const deliveriesRead = async () => {
        await one.query('select pg_stat_force_next_flush()');
        return (await rowsRead(one)).get('exchange_delivery') ?? 0;
      };
      await tellRead(pool);
      const before = await deliveriesRead();
      assert.deepEqual(await decide(one, place, { filter: { ids: [held.id] }, decision }), [held.id]);
      const read = (await deliveriesRead()) - before;
      await one.end();
      assert.ok(read >= 2 && read < 20, `${read} rows of deliveries were read`);
    },
  );

for (const when of [
  'before there are statistics',
  'with statistics of other organisations',
  'where another index is not as high',
])
  test(`decisions read the held deliveries that are meant: ${when} [HTTP-33]`, PLAIN, async () => {
    const { pool, url } = database;
    const { place, key } = await setUp();
    const count = 200;
    if (when === 'where another index is not as high') {
      const { place: other } = await setUp();
      await queue(pool, other, await insertPatients(pool, other, 1_000));
      await owner.query('alter index exchange_delivery_pkey set (fillfactor = 10)');
      await owner.query('reindex index exchange_delivery_pkey');
      await owner.query('analyze');
    }
    await queue(pool, place, await insertPatients(pool, place, count - 1));
    await refuseDue(pool, key, count);
    await rename(pool, place, await insertPatients(pool, place, count), 'queued');
    const held = await listDeliveries(pool, place, { filter: {}, status: 'held', limit: 2 });
    // Tables of a few pages are scanned with good reason.
    const settingsOn = async () => ({ enable_seqscan: 'off' });
    const one = createPool({ url, max: 1, applicationName: 'test', settingsOn }, () => undefined);
    await tellRead(pool);
    const reads = async (work: () => Promise<unknown>) => {
      const [before, after] = [await tableReads(), await work().then(tableReads)];
      return ['exchange_head', 'exchange_delivery'].map(
        (table) => (after.get(table) ?? 0) - (before.get(table) ?? 0),
      );
    };
    const tableReads = async () => {
      await one.query('select pg_stat_force_next_flush()');
      return rowsRead(one);
    };
    const few: number[] = [];
    for (const [index, decision] of [REPLAY, SKIP].entries()) {
      const ids = [held[index]?.id ?? ''];
      const { facilityId } = place;
      few.push(...(await reads(() => knownDeliveries(one, place, { ids, facilityId }))));
      few.push(...(await reads(() => heldDeliveries(one, place, { ids, facilityId }))));
      few.push(...(await reads(() => decide(one, place, { filter: { ids, facilityId }, decision }))));
    }
    const all = await reads(() => decide(one, place, { filter: {}, decision: REPLAY }));
    await one.end();
    await owner.query('analyze');
    assert.ok(
      few.every((rows) => rows < 20),
      `rows for one: ${few}`,
    );
    assert.ok(
      all.every((rows) => rows < 12 * count),
      `rows for all: ${all}`,
    );
  });

describe('a settled delivery', () => {
  test('makes way for one that its statement does not see yet', async () => {
    const { key, patientId } = await setUp();
    const token = randomUUID();
    await leaseDue(database.pool, key, { token, durationMs: 60_000, limit: 1 });
    // As a change that ends between the statement's start and its lock leaves it to be seen.
    await database.pool.query('update exchange_head set last_sequence = 2 where patient_id = $1', [
      patientId,
    ]);
    const next = { kind: 'advance' } as const;
    const result = { patientId, sequence: 1, leaseToken: token, next, attempt: null, counted: true };
    assert.deepEqual(await settle(database.pool, key, [result]), { moved: new Set([patientId]), more: true });
  });
});
