import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database.ts';
import {
  connect,
  insertPatients,
  type Place,
  queue,
  rename,
} from '../../../test-support/exchange-records.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { registerQueueGauges } from '../worker/exchange-metrics.ts';
import { countedStates, countQueues } from './queue-count.store.ts';
import { queueStates } from './queue-state.store.ts';

let database: TestDatabase;
let place: Place;
let connectionId: string;
const keys = createKeyRing(randomBytes(32));

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  const { id: organisationId } = await createOrganisation(database.pool, { name: 'Org' });
  const { id: facilityId } = await createFacility(database.pool, { organisationId, name: 'Clinic' });
  place = { organisationId, facilityId };
  ({ id: connectionId } = await connect({ pool: database.pool, keys }, place, {
    address: 'https://hie.example.org',
  }));
});
const counted = async () =>
  (await countedStates(database.pool)).states.find((state) => state.connectionId === connectionId);
/** As if it had been counted so long ago, and taken so long. */
const age = (seconds: number, tookMs = 1) =>
  database.pool.query(
    `update exchange_queue_count set counted_at = now() - $2 * interval '1 second', took_ms = $3
     where organisation_id = $1`,
    [place.organisationId, seconds, tookMs],
  );

describe('the count of what waits', () => {
  test('is what waits, and is made anew when it is old [EXC-52]', async () => {
    const ids = await insertPatients(database.pool, place, 3);
    await queue(database.pool, place, ids);
    await rename(database.pool, place, ids.slice(0, 1), 'second');
    await database.pool.query(
      `update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null
       where organisation_id = $1 and patient_id = $2`,
      [place.organisationId, ids[0]],
    );
    assert.equal(await counted(), undefined);
    assert.equal((await countedStates(database.pool)).uncounted, true);
    await countQueues(database.pool);
    const { due, oldestSeconds: _age, ...state } = (await counted()) ?? assert.fail();
    const [exact] = await queueStates(database.pool, place.organisationId);
    const { oldestSeconds: _exactAge, ...waiting } = exact ?? assert.fail();
    assert.deepEqual(state, waiting);
    assert.deepEqual([state.queued, state.held, due], [3, 1, false]);

    await queue(database.pool, place, await insertPatients(database.pool, place, 5));
    await countQueues(database.pool);
    assert.equal((await counted())?.queued, 3, 'not before it is due');
    await age(11);
    await countQueues(database.pool);
    assert.equal((await counted())?.queued, 8);
  });

  test('is made the more seldom, the longer it takes', async () => {
    await countQueues(database.pool);
    await age(25, 1_000);
    assert.equal((await counted())?.due, false);
    await age(31, 1_000);
    assert.equal((await counted())?.due, true);
  });

  test('is made by one process at a time', async () => {
    await countQueues(database.pool);
    await age(60);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query(`select pg_advisory_xact_lock(hashtextextended('exchange-count-queues', 0))`);
      await countQueues(database.pool);
      assert.equal((await counted())?.due, true, 'the other one is at it');
      await client.query('commit');
    } finally {
      client.release();
    }
    await countQueues(database.pool);
    assert.equal((await counted())?.due, false);
  });

  test('is made anew by a scrape that finds it old, which waits for it unless it takes long', async () => {
    await queue(database.pool, place, await insertPatients(database.pool, place, 2));
    const scrape = async () => {
      const registry = new Registry();
      registerQueueGauges(registry, database.pool);
      return registry.metrics();
    };
    const line = (value: number) => `interchange_exchange_queued{connection="${connectionId}"} ${value}`;
    assert.ok((await scrape()).includes(line(2)), 'a new connection is counted at once');
    await queue(database.pool, place, await insertPatients(database.pool, place, 1));
    assert.ok((await scrape()).includes(line(2)), 'it is good for a while');
    await age(60);
    assert.ok((await scrape()).includes(line(3)), 'an old one is made anew');
    const locking = await database.pool.connect();
    try {
      await locking.query('begin');
      await locking.query('lock table exchange_head in access exclusive mode');
      await age(60);
      assert.ok((await scrape()).includes(line(3)), 'one that cannot be made is not waited for');
    } finally {
      await locking.query('rollback');
      locking.release();
    }
  });
});
