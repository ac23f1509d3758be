import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { waitForDisconnect } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { closeBreaker, delayProbe, openBreaker } from '../worker/breaker.store.ts';
import { createDeliveryPool } from '../worker/delivery-pool.ts';
import { type ConnectionKey, leaseDue, leaseProbe, release } from './lane.store.ts';
import { park, unpark } from './parking.store.ts';
import { permits } from './send-permit.store.ts';
import { type DeliveryAttempt, type DeliveryResult, settle } from './settle.store.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');
let place: { organisationId: string; facilityId: string };
let key: ConnectionKey;
const keys = createKeyRing(randomBytes(32));
const pool = () => database.pool;

const database = await useTestDatabase();
beforeEach(async () => {
  place = await createPlace(pool());
  const { id } = await connect({ pool: pool(), keys }, place, { address: 'https://hie.example.org' });
  key = { organisationId: place.organisationId, connectionId: id };
});

const lease = (limit = 100, durationMs = 60_000, token: string = randomUUID()) => ({
  token,
  durationMs,
  limit,
});
const attempt = (outcome: DeliveryAttempt['outcome'] = 'delivered'): DeliveryAttempt => ({
  nonce: randomUUID(),
  startedAt: new Date(),
  durationMs: 1,
  outcome,
  status: 200,
  failure: null,
  responseHash: null,
});
function result(
  leased: { patientId: string; sequence: number },
  leaseToken: string,
  next: DeliveryResult['next'],
): DeliveryResult {
  return {
    patientId: leased.patientId,
    sequence: leased.sequence,
    leaseToken,
    next,
    attempt: attempt(),
    counted: true,
  };
}
async function head(patientId: string) {
  const { rows } = await pool().query<{
    sequence: number;
    attempts: number;
    held_reason: string | null;
    lease_token: string | null;
  }>('select * from exchange_head where organisation_id = $1 and patient_id = $2', [
    place.organisationId,
    patientId,
  ]);
  return rows[0];
}
const attemptCount = async () =>
  (await pool().query('select from exchange_attempt where organisation_id = $1', [place.organisationId]))
    .rowCount;

describe('leases', () => {
  test('are given to one of many that ask at once [EXC-15]', async () => {
    const ids = await insertPatients(pool(), place, 200);
    await queue(pool(), place, ids);
    const given = await Promise.all(Array.from({ length: 8 }, () => leaseDue(pool(), key, lease(40))));
    const patients = given.flat().map(({ patientId }) => patientId);
    assert.equal(new Set(patients).size, patients.length);
    assert.ok(patients.length >= 190, 'and leave nothing aside');
  });

  test('start with what has waited longest', async () => {
    const [old = '', young = ''] = await insertPatients(pool(), place, 2);
    await queue(pool(), place, [old]);
    await queue(pool(), place, [young]);
    const [first] = await leaseDue(pool(), key, lease(1));
    assert.equal(first?.patientId, old);
  });

  test('fence off a worker whose lease has ended [EXC-15]', async () => {
    const ids = await insertPatients(pool(), place, 1);
    await queue(pool(), place, ids);
    await rename(pool(), place, ids, '1');
    const slow = lease(1, 0);
    const [mine] = await leaseDue(pool(), key, slow);
    assert.ok(mine);
    const next = lease(1);
    const [theirs] = await leaseDue(pool(), key, next);
    assert.deepEqual(theirs, mine, 'the same delivery, once the lease has ended');
    const late = await settle(pool(), key, [result(mine, slow.token, { kind: 'advance' })]);
    assert.equal(late.moved.size, 0);
    assert.equal((await head(mine.patientId))?.sequence, 1, 'the late result moves nothing');
    assert.equal(await attemptCount(), 1, 'but the try is in the ledger');
    const written = result(mine, next.token, { kind: 'advance' });
    const done = await settle(pool(), key, [written]);
    assert.deepEqual([done.moved.size, done.more], [1, true]);
    const again = await settle(pool(), key, [written]);
    assert.equal(again.moved.size, 0, 'one result moves a lane once, and is in the ledger once');
    assert.equal((await head(mine.patientId))?.sequence, 2);
    await release(pool(), key, { token: slow.token, patientIds: ids });
  });

  test('permit a request to the one who holds them, and to no earlier one [EXC-15, EXC-24]', async () => {
    await queue(pool(), place, await insertPatients(pool(), place, 1));
    const slow = lease(1, 0);
    const [mine] = await leaseDue(pool(), key, slow);
    assert.ok(mine);
    const next = lease(1);
    await leaseDue(pool(), key, next);
    const terms = { version: 1, purposeOfUse: 'OPS', timeoutMs: 1_000 } as const;
    const asked = [slow, next].map(({ token }) => ({ ...mine, leaseToken: token }));
    assert.deepEqual(await permits(pool(), key, terms, asked), ['changed', 'send']);
  });

  test('of a patient to one connection say nothing of the lane of that patient to another one [EXC-15]', async () => {
    const { id } = await connect({ pool: pool(), keys }, place, { address: 'https://hie2.example.org' });
    const other = { ...key, connectionId: id };
    const ids = await insertPatients(pool(), place, 2);
    await queue(pool(), place, ids);
    await rename(pool(), place, ids.slice(0, 1), '1');
    const lanesOf = async ({ connectionId }: ConnectionKey) =>
      (
        await pool().query('select * from exchange_head where connection_id = $1 order by patient_id', [
          connectionId,
        ])
      ).rows;
    const circuitOf = async ({ connectionId }: ConnectionKey) =>
      (await pool().query('select * from exchange_circuit where connection_id = $1', [connectionId])).rows;
    await openBreaker(pool(), other, 0);
    let standing = await lanesOf(other);
    const mine = async () => {
      const asked = lease();
      const leased = await leaseDue(pool(), key, asked);
      assert.ok(leased.length > 0);
      for (const { body } of leased) assert.equal(JSON.parse(body ?? '').connectionId, key.connectionId);
      return { token: asked.token, leased };
    };
    const settled = async (next: DeliveryResult['next']) => {
      const { token, leased } = await mine();
      const results = leased.map((one) => result(one, token, next));
      assert.equal((await settle(pool(), other, results)).moved.size, 0);
      assert.equal((await settle(pool(), key, results)).moved.size, leased.length);
      assert.deepEqual(await lanesOf(other), standing, next.kind);
    };
    const first = await mine();
    const terms = { version: 1, purposeOfUse: 'OPS', timeoutMs: 1_000 } as const;
    const asked = first.leased.map((one) => ({ ...one, leaseToken: first.token }));
    assert.deepEqual(await permits(pool(), other, terms, asked), ['changed', 'changed']);
    const back = { token: first.token, patientIds: ids };
    await release(pool(), other, back);
    await park(pool(), other, back);
    assert.deepEqual(await permits(pool(), key, terms, asked), ['send', 'send']);
    await release(pool(), key, back);
    await settled({ kind: 'retry', afterMs: 0 });
    await settled({ kind: 'advance' });
    await settled({ kind: 'retry', afterMs: 60_000 });
    assert.deepEqual(await leaseDue(pool(), key, lease()), [], 'what is due at another one is not due here');
    await openBreaker(pool(), key, 0);
    const circuit = await circuitOf(key);
    const token = randomUUID();
    const theirs = await leaseProbe(pool(), other, lease(2, 60_000, token));
    assert.equal(theirs.length, 2);
    for (const { body } of theirs) assert.equal(JSON.parse(body ?? '').connectionId, id);
    assert.deepEqual(await circuitOf(key), circuit, 'the probe of another one');
    await release(pool(), other, { token, patientIds: ids });
    const delay = { afterMs: 60_000, maxMs: 6_000_000, restMs: 0 };
    for (let probe = 0; probe < 4; probe += 1) await delayProbe(pool(), other, delay);
    const theirCircuit = await circuitOf(other);
    await delayProbe(pool(), key, delay);
    await delayProbe(pool(), key, delay);
    assert.ok((await circuitOf(key))[0].probe_at < theirCircuit[0].probe_at, 'after two failures, not four');
    await closeBreaker(pool(), key);
    assert.deepEqual(await circuitOf(other), theirCircuit);
    await closeBreaker(pool(), other);
    assert.equal((await leaseDue(pool(), other, lease(2, 60_000, token))).length, 2);
    await park(pool(), other, { token, patientIds: ids });
    standing = [...(await lanesOf(other)), ...(await lanesOf(key))];
    await unpark(pool(), key, 10);
    assert.deepEqual([...(await lanesOf(other)), ...(await lanesOf(key))], standing, 'unpark');
    assert.equal(await unpark(pool(), other, 10), 2);
  });

  test('are given back only by the one who holds them', async () => {
    const ids = await insertPatients(pool(), place, 1);
    await queue(pool(), place, ids);
    const mine = lease(1);
    await leaseDue(pool(), key, mine);
    await release(pool(), key, { token: randomUUID(), patientIds: ids });
    assert.equal((await leaseDue(pool(), key, lease(1))).length, 0);
    await release(pool(), key, { token: mine.token, patientIds: ids });
    assert.equal((await leaseDue(pool(), key, lease(1))).length, 1);
  });

  test('are not given for a disabled connection, a held lane or an open circuit', async () => {
    const ids = await insertPatients(pool(), place, 2);
    await queue(pool(), place, ids);
    const [first] = await leaseDue(pool(), key, lease(1, 0));
    assert.ok(first);
    const held = lease(1, 0);
    await leaseDue(pool(), key, held);
    await settle(pool(), key, [result(first, held.token, { kind: 'hold', reason: 'refused_422' })]);
    assert.equal((await head(first.patientId))?.held_reason, 'refused_422');
    assert.equal((await leaseDue(pool(), key, lease(10, 0))).length, 1);
    await openBreaker(pool(), key, 60_000);
    assert.equal((await leaseDue(pool(), key, lease(10, 0))).length, 0);
    await closeBreaker(pool(), key);
    await pool().query('update exchange_connection set disabled_at = now() where organisation_id = $1', [
      place.organisationId,
    ]);
    assert.equal((await leaseDue(pool(), key, lease(10, 0))).length, 0);
  });

  test('read what they need and no more, planned on empty tables and without statistics', PLAIN, async () => {
    const db = createDeliveryPool({ url: database.url, max: 1 }, () => undefined);
    const mine = lease(300);
    assert.deepEqual(await leaseDue(db, key, mine), [], 'planned on an empty table');
    await settle(db, key, []);
    const terms = { version: 1, purposeOfUse: 'OPS', timeoutMs: 1_000 } as const;
    await permits(db, key, terms, []);
    const ids = await insertPatients(pool(), place, 2_000);
    await queue(pool(), place, ids);
    await rename(pool(), place, ids, '1');
    // Before 17, PostgreSQL plans a look-up by an array as a filter until it knows that the table has grown.
    const { rows } = await db.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    if ((rows[0]?.version ?? 0) < 170_000) await analyze();
    const before = await reads();
    const found = await leaseDue(db, key, mine);
    assert.equal(found.length, 300);
    const asked = found.map((item) => ({ ...item, leaseToken: mine.token }));
    assert.deepEqual(new Set(await permits(db, key, terms, asked)), new Set(['send']));
    const nexts: DeliveryResult['next'][] = [
      { kind: 'advance' },
      { kind: 'retry', afterMs: 1 },
      { kind: 'hold', reason: 'r' },
    ];
    await settle(
      db,
      key,
      found.map((item, index) => result(item, mine.token, nexts[index % 3] ?? { kind: 'advance' })),
    );
    await db.end();
    const after = await reads();
    assert.equal(after.scans - before.scans, 0, 'no sequential scan');
    assert.ok(
      after.rows - before.rows < 20 * found.length,
      `${after.rows - before.rows} index entries read for ${found.length} deliveries`,
    );
  });

  test('settle many at the cost of few, planned once and with statistics', PLAIN, async () => {
    const db = createDeliveryPool({ url: database.url, max: 1 }, () => undefined);
    const ids = await insertPatients(pool(), place, 2_000);
    await queue(pool(), place, ids);
    await rename(pool(), place, ids, '1');
    // Many lanes of another connection, and none of other organisations.
    await pool().query('delete from exchange_head where organisation_id <> $1', [place.organisationId]);
    await pool().query(
      `insert into exchange_head (organisation_id, connection_id, patient_id, sequence, last_sequence, queued_at, due_at)
       select $1, md5('another connection')::uuid, md5('patient' || i)::uuid, 1, 2, now(), now()
       from generate_series(1, 40000) i`,
      [place.organisationId],
    );
    await analyze();
    await db.query({ text: "set plan_cache_mode = 'force_generic_plan'" });
    for (const next of [{ kind: 'retry', afterMs: 1_000 }, { kind: 'advance' }] as const) {
      const mine = lease(300);
      const found = await leaseDue(db, key, mine);
      const before = await entriesRead(db);
      const { moved } = await settle(
        db,
        key,
        found.map((item) => result(item, mine.token, next)),
      );
      assert.equal(moved.size, 300);
      const read = (await entriesRead(db)) - before;
      assert.ok(read < 10 * moved.size, `${read} index entries read to ${next.kind} ${moved.size} lanes`);
    }
    await db.end();
  });

  async function analyze(): Promise<void> {
    const owner = await database.connectOwner();
    await owner.query('analyze exchange_head, exchange_delivery');
    await owner.end();
  }

  async function entriesRead(db: Queryable): Promise<number> {
    await db.query({ text: 'select pg_stat_force_next_flush()' });
    const { rows } = await db.query<{ read: number }>({
      text: `select sum(idx_tup_read)::float8 as read
        from pg_stat_user_indexes
        where relname in ('exchange_head', 'exchange_delivery')`,
    });
    return rows[0]?.read ?? 0;
  }

  async function reads(): Promise<{ scans: number; rows: number }> {
    // A connection that has ended has told its numbers.
    await waitForDisconnect(pool(), 'interchange delivery%');
    const { rows } = await pool().query<{ scans: number }>(
      `select coalesce(sum(t.seq_scan), 0)::bigint as scans
       from pg_stat_user_tables t
       where t.relname in ('exchange_head', 'exchange_delivery')`,
    );
    return { scans: rows[0]?.scans ?? 0, rows: await entriesRead(pool()) };
  }
});

describe('settling', () => {
  test('moves each lane as its result says, many at once', async () => {
    const ids = await insertPatients(pool(), place, 4);
    await queue(pool(), place, ids);
    await rename(pool(), place, ids.slice(0, 1), '1');
    const mine = lease(10);
    const leased = await leaseDue(pool(), key, mine);
    const nexts: Record<string, DeliveryResult['next']> = {
      [ids[0] ?? '']: { kind: 'advance' },
      [ids[1] ?? '']: { kind: 'advance' },
      [ids[2] ?? '']: { kind: 'retry', afterMs: 60_000 },
      [ids[3] ?? '']: { kind: 'hold', reason: 'refused_400' },
    };
    const { moved, more } = await settle(
      pool(),
      key,
      leased.map((item) => result(item, mine.token, nexts[item.patientId] ?? { kind: 'advance' })),
    );
    assert.deepEqual([moved.size, more], [4, true]);
    const [first, second, third, fourth] = await Promise.all(ids.map(head));
    assert.deepEqual([first?.sequence, first?.attempts], [2, 0]);
    assert.equal(second, undefined);
    assert.deepEqual([third?.sequence, third?.attempts, third?.held_reason], [1, 1, null]);
    assert.deepEqual([fourth?.held_reason, fourth?.attempts], ['refused_400', 1]);
  });

  test('does not count a try that was not the delivery’s fault', async () => {
    const ids = await insertPatients(pool(), place, 1);
    await queue(pool(), place, ids);
    const mine = lease(1);
    const [leased] = await leaseDue(pool(), key, mine);
    assert.ok(leased);
    await settle(pool(), key, [
      { ...result(leased, mine.token, { kind: 'retry', afterMs: 0 }), counted: false },
    ]);
    assert.equal((await head(leased.patientId))?.attempts, 0);
  });
});

describe('probes', () => {
  test('are one at a time while the circuit is open, each of another lane, ever further apart [EXC-21]', async () => {
    const ids = await insertPatients(pool(), place, 3);
    await queue(pool(), place, ids);
    assert.equal((await leaseProbe(pool(), key, lease(1))).length, 0, 'none while it is closed');
    assert.equal(await openBreaker(pool(), key, 0), true);
    assert.equal(await openBreaker(pool(), key, 0), false, 'opened once');
    const token = randomUUID();
    const both = await Promise.all([
      leaseProbe(pool(), key, lease(1, 60_000, token)),
      leaseProbe(pool(), key, lease(1, 60_000, token)),
    ]);
    assert.equal(both.flat().length, 1);
    const [first] = both.flat();
    assert.ok(first);
    await settle(pool(), key, [
      { ...result(first, token, { kind: 'retry', afterMs: 60_000 }), counted: false },
    ]);
    // Times beside which it does not count how long the statements take.
    const unitMs = 100_000;
    const delay = { afterMs: unitMs, maxMs: 4 * unitMs, restMs: 0 };
    await delayProbe(pool(), key, delay);
    assert.equal((await leaseProbe(pool(), key, lease(1))).length, 0, 'not before its time');
    const waits: number[] = [];
    for (let probe = 0; probe < 4; probe += 1) {
      const { rows } = await pool().query<{ ms: number }>(
        `select extract(epoch from probe_at - now())::double precision * 1000 as ms from exchange_circuit where organisation_id = $1`,
        [place.organisationId],
      );
      waits.push(Math.round((rows[0]?.ms ?? 0) / unitMs));
      await delayProbe(pool(), key, delay);
    }
    assert.deepEqual(waits, [2, 4, 4, 4]);
    await pool().query(`update exchange_circuit set probe_at = now() where organisation_id = $1`, [
      place.organisationId,
    ]);
    const [second] = await leaseProbe(pool(), key, lease(1));
    assert.notEqual(second?.patientId, first.patientId);
  });
});
