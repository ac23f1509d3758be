import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createTestDatabase, useTestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { countRead } from '../../../test-support/database/rows-read.ts';
import { connect, insertPatients, queue } from '../../../test-support/exchange/exchange-records.ts';
import { holdDeliveries } from '../../../test-support/exchange/held-deliveries.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { listCallbacks } from '../callbacks/callback.store.ts';
import { leaseDue } from '../queue/lane.store.ts';
import { settle } from '../queue/settle.store.ts';
import { type DeliveryFilter, listDeliveries, readDelivery } from './delivery.store.ts';
import { decide } from './review.store.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');

const database = await useTestDatabase();
const owner = await database.connectOwner();

test('of what a patient has at two connections each is listed and read with what is its own [EXC-28]', async () => {
  const { pool } = database;
  const place = await createPlace(pool);
  const deps = { pool, keys: createKeyRing(randomBytes(32)) };
  const address = 'https://hie.example.org';
  const [one, other] = [await connect(deps, place, { address }), await connect(deps, place, { address })];
  const patients = await insertPatients(pool, place, 1);
  await queue(pool, place, patients);
  const settled = async (connectionId: string, outcome: 'delivered' | 'refused', status: number) => {
    const key = { ...place, connectionId };
    const token = randomUUID();
    const leased = await leaseDue(pool, key, { token, durationMs: 60_000, limit: 1 });
    const next =
      outcome === 'delivered'
        ? { kind: 'advance' as const }
        : { kind: 'hold' as const, reason: 'refused_400' };
    const attempt = {
      nonce: randomUUID(),
      startedAt: new Date(),
      durationMs: 1,
      outcome,
      status,
      failure: null,
    };
    const [{ patientId = '', sequence = 0 } = {}] = leased;
    const result = { patientId, sequence, leaseToken: token, next, counted: true };
    await settle(pool, key, [{ ...result, attempt: { ...attempt, responseHash: null } }]);
  };
  await settled(one.id, 'refused', 400);
  await settled(other.id, 'delivered', 200);
  const shown = async () => {
    const listed = await listDeliveries(pool, place, { filter: {}, limit: 10 });
    const found = await Promise.all(listed.map(({ id }) => readDelivery(pool, place, id)));
    return new Map(
      found.map((delivery) => [
        delivery?.connectionId,
        [
          delivery?.status,
          delivery?.lastAttempt?.status,
          delivery?.attempts.length,
          delivery?.lastReview?.action,
          delivery?.reviews.length,
        ],
      ]),
    );
  };
  assert.deepEqual((await shown()).get(one.id), ['held', 400, 1, undefined, 0]);
  assert.deepEqual((await shown()).get(other.id), ['delivered', 200, 1, undefined, 0]);
  await decide(pool, place, {
    filter: { connectionId: one.id },
    decision: { action: 'skip', reason: 'old', accountId: null },
  });
  assert.deepEqual((await shown()).get(one.id), ['skipped', 400, 1, 'skip', 1]);
  assert.deepEqual((await shown()).get(other.id), ['delivered', 200, 1, undefined, 0]);
  // What was skipped stays so where the other connection's delivery of the same number was replayed.
  await pool.query(
    `insert into exchange_review (organisation_id, id, connection_id, patient_id, sequence, action, reason, decided_at)
     select organisation_id, $1, $2, patient_id, sequence, 'replay', reason, decided_at + interval '1 minute'
     from exchange_review where connection_id = $3`,
    [randomUUID(), other.id, one.id],
  );
  assert.equal((await shown()).get(one.id)?.[0], 'skipped');
});

test(
  'a page of skipped deliveries reads what was skipped, however much was delivered since',
  PLAIN,
  async () => {
    const { pool } = database;
    const place = await createPlace(pool);
    await holdDeliveries({ database, keys: createKeyRing(randomBytes(32)) }, place, { count: 60 });
    const held = await listDeliveries(pool, place, { filter: {}, status: 'held', limit: 100 });
    const ids = held.map(({ id }) => id).slice(-3);
    await decide(pool, place, {
      filter: { ids },
      decision: { action: 'skip', reason: 'old', accountId: null },
    });
    // The others are delivered.
    await pool.query('delete from exchange_head where organisation_id = $1', [place.organisationId]);
    await owner.query('analyze');
    const page = async (db: Queryable, filter: DeliveryFilter, after?: readonly [string]) =>
      (await listDeliveries(db, place, { filter, status: 'skipped', limit: 2, after })).map(({ id }) => id);
    const { value: first, read } = await countRead(pool, (client) =>
      page(client, { facilityId: place.facilityId }),
    );
    const rest = await page(pool, { connectionId: held[0]?.connectionId }, [first[1] ?? '']);
    assert.deepEqual([first, rest], [ids.slice(0, 2), ids.slice(2)]);
    const count = read('exchange_delivery');
    assert.ok(count >= 2 && count < 10, `${count} deliveries were read`);
  },
);

test('a page of skipped deliveries does not read the others that were skipped', PLAIN, async () => {
  const { pool } = database;
  const place = await createPlace(pool);
  await holdDeliveries({ database, keys: createKeyRing(randomBytes(32)) }, place, { count: 200 });
  const ids = await decide(pool, place, {
    filter: {},
    decision: { action: 'skip', reason: 'old', accountId: null },
  });
  for (const statistics of ['', 'analyze']) {
    await owner.query(statistics);
    const { value: page, read } = await countRead(pool, (client) =>
      listDeliveries(client, place, {
        filter: { facilityId: place.facilityId },
        status: 'skipped',
        limit: 2,
        after: [ids[100] ?? ''],
      }),
    );
    assert.deepEqual(
      page.map(({ id }) => id),
      [ids[99], ids[98]],
    );
    const rows = ['exchange_delivery', 'exchange_review'].map(read);
    assert.ok(
      rows.every((count) => count >= 2 && count < 20),
      `${rows} deliveries and decisions were read`,
    );
  }
});

test('a page of delivered deliveries stops where it is full, also without statistics', PLAIN, async (t) => {
  // Other tests analyze theirs.
  const fresh = await createTestDatabase();
  t.after(() => fresh.drop());
  const { pool } = fresh;
  const place = await createPlace(pool);
  const { connectionId } = await holdDeliveries(
    { database: fresh, keys: createKeyRing(randomBytes(32)) },
    place,
    { count: 1_000 },
  );
  await pool.query('delete from exchange_head where organisation_id = $1', [place.organisationId]);
  const { facilityId } = place;
  for (const status of ['delivered', undefined] as const)
    for (const filter of [{ facilityId }, { facilityId, connectionId }]) {
      const { value: page, read } = await countRead(pool, (client) =>
        listDeliveries(client, place, { filter, status, limit: 2 }),
      );
      assert.equal(page.length, 2);
      const count = read('exchange_delivery');
      assert.ok(count >= 2 && count < 20, `${count} deliveries were read`);
    }
});

test('a page of what was queued before a time does not read what was queued since', PLAIN, async () => {
  const place = await createPlace(database.pool);
  await holdDeliveries({ database, keys: createKeyRing(randomBytes(32)) }, place, { count: 40 });
  const list = (db: Queryable, until: Date) =>
    listDeliveries(db, place, { filter: { facilityId: place.facilityId, until }, limit: 3 });
  const { value: none, read } = await countRead(database.pool, (client) =>
    list(client, new Date('2020-01-01T00:00:00Z')),
  );
  assert.deepEqual(none, []);
  assert.equal((await list(database.pool, new Date('2100-01-01T00:00:00Z'))).length, 3);
  const count = read('exchange_delivery');
  assert.ok(count < 5, `${count} deliveries were read`);
});

test('a page of held deliveries reads the tries of its own deliveries only', PLAIN, async () => {
  const { pool } = database;
  const place = await createPlace(pool);
  await holdDeliveries({ database, keys: createKeyRing(randomBytes(32)) }, place, { count: 40 });
  // Among many that are held the planner sorts, and does not go by id.
  await owner.query('drop index exchange_delivery_by_id');
  const { value: page, read } = await countRead(pool, (client) =>
    listDeliveries(client, place, { filter: { facilityId: place.facilityId }, status: 'held', limit: 3 }),
  );
  assert.deepEqual(
    page.map(({ status, lastAttempt }) => [status, lastAttempt?.status]),
    Array.from({ length: 3 }, () => ['held', 422]),
  );
  const count = read('exchange_attempt');
  assert.ok(count >= 3 && count < 10, `${count} tries were read`);
});

test(
  'a page of rejected callbacks, or of conflicts, does not read what the exchange took',
  PLAIN,
  async () => {
    const place = await createPlace(database.pool);
    await holdDeliveries({ database, keys: createKeyRing(randomBytes(32)) }, place, { count: 1 });
    const { rows: connections } = await database.pool.query<{ id: string }>({
      text: 'select id from exchange_connection where organisation_id = $1',
      values: [place.organisationId],
    });
    await owner.query({
      text: `insert into exchange_callback (organisation_id, connection_id, body_digest, id, delivery_id, patient_id,
        facility_id, status, outcome, received_at, correlation_id)
      select $1, $2, decode(md5(n::text), 'hex'), lpad(n::text, 32, '0')::uuid, gen_random_uuid(), gen_random_uuid(), $3,
        case n when 1 then 'rejected' else 'accepted' end, case n when 2 then 'conflict' else 'applied' end, now(), 'c'
      from generate_series(1, 2000) n`,
      values: [place.organisationId, connections[0]?.id, place.facilityId],
    });
    await owner.query('analyze exchange_callback');
    const { value, read } = await countRead(
      database.pool,
      async (client) => [
        await listCallbacks(client, place, { status: 'rejected', limit: 20 }),
        await listCallbacks(client, place, { outcome: 'conflict', limit: 20 }),
      ],
      { mayScan: true },
    );
    assert.deepEqual(
      value.map(({ length }) => length),
      [1, 1],
    );
    const count = read('exchange_callback');
    assert.ok(count >= 2 && count < 10, `${count} callbacks were read`);
  },
);
