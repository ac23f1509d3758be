/** What a worker asks the database while nothing is due, and how it learns that something is. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import {
  connect,
  insertPatients,
  type Place,
  QUICK,
  queue,
} from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createLog } from '../../platform/log/log.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { createDeliveryWorker, type DeliveryWorker } from './delivery-worker.ts';

const ORGANISATIONS = 500;
const TICKS = 50;
const keys = createKeyRing(randomBytes(32));

describe('a worker with 500 organisations that have nothing to deliver', () => {
  let database: TestDatabase;
  let worker: DeliveryWorker;
  let organisationIds: string[];
  let asked: string[];
  let call: (organisationId?: string) => void;
  /** One more, where a worker has died with a delivery. */
  let place: Place;
  before(async () => {
    database = await createTestDatabase();
    organisationIds = Array.from({ length: ORGANISATIONS }, () => randomUUID());
    await database.pool.query(
      'insert into exchange_connection_directory (connection_id, organisation_id) select id, id from unnest($1::uuid[]) id',
      [organisationIds],
    );
    place = await insertLeased();
    const watched = watchPool(database.pool, ({ name, values }) => String(values?.[0] ?? name));
    asked = watched.statements;
    worker = createDeliveryWorker({
      db: watched.db,
      work: createWorkWatch().of('deliveries'),
      keys,
      log: createLog('silent'),
      now: () => new Date(),
      settings: QUICK,
      accessLog: { record: async () => undefined },
      onAttempt: () => undefined,
      listen(onCall) {
        call = (organisationId) => onCall(organisationId);
        return () => undefined;
      },
    });
    worker.start();
    await waitUntil(() => organisationIds.every((id) => asked.includes(id)), 'each is looked at once');
  });
  after(async () => {
    await worker.stop();
    await database.drop();
  });
  async function insertLeased(): Promise<Place> {
    const { pool } = database;
    const leased = await createPlace(pool);
    await connect({ pool, keys }, leased, { address: 'https://hie.example.org' });
    await queue(pool, leased, await insertPatients(pool, leased, 1));
    await pool.query(
      `update exchange_head set lease_token = $2, leased_until = now() + interval '1 hour' where organisation_id = $1`,
      [leased.organisationId, randomUUID()],
    );
    return leased;
  }
  const looksAt = (organisationId: string) => asked.filter((one) => one === organisationId).length;

  test('looks at them in turns, and not all of them each time [EXC-55]', async () => {
    asked.length = 0;
    const ticks = () => asked.filter((one) => !organisationIds.includes(one)).length;
    await waitUntil(() => ticks() >= TICKS, 'the worker reads the directory many times');
    const looks = asked.length - ticks();
    assert.ok(looks < (TICKS * ORGANISATIONS) / 10, `${looks} looks in ${TICKS} rounds`);
    await waitUntil(() => organisationIds.every((id) => asked.includes(id)), 'each has its turn again');
  });

  test('looks at once at the one that it is called for, and once for many calls [EXC-55]', async () => {
    const [first = '', second = ''] = organisationIds;
    for (const organisationId of [first, second]) {
      asked.length = 0;
      for (let count = 0; count < 100; count += 1) call(organisationId);
      await waitUntil(() => asked.includes(organisationId), 'it is looked at');
      const others = organisationIds.filter((one) => asked.includes(one)).length;
      assert.ok(others < ORGANISATIONS / 2, 'before the turn of the others came');
      assert.ok(looksAt(organisationId) < 10);
    }
  });

  test('looks at all of them soon when calls may have been lost [EXC-55]', async () => {
    asked.length = 0;
    call();
    const looksAgain = () => organisationIds.every((id) => asked.includes(id));
    await waitUntil(looksAgain, 'each is looked at');
    const ticks = asked.filter((one) => !organisationIds.includes(one)).length;
    assert.ok(ticks < ORGANISATIONS / 2, `before its turn came by itself: ${ticks} rounds`);
  });

  test('looks at one again when a lease there ends, before its turn comes by itself [EXC-55]', async () => {
    const { organisationId } = place;
    await database.pool.query(
      `update exchange_head set leased_until = now() + interval '1 second' where organisation_id = $1`,
      [organisationId],
    );
    asked.length = 0;
    call(organisationId);
    await waitUntil(() => looksAt(organisationId) >= 2, 'it is looked at again');
    const others = organisationIds.filter((one) => asked.includes(one)).length;
    assert.ok(others < ORGANISATIONS / 2, `${others} others were looked at meanwhile`);
  });

  test('takes up an organisation whose first connection is made meanwhile [EXC-55]', async () => {
    const organisationId = randomUUID();
    await database.pool.query(
      'insert into exchange_connection_directory (connection_id, organisation_id) values ($1, $1)',
      [organisationId],
    );
    call(organisationId);
    await waitUntil(() => asked.includes(organisationId), 'it is looked at');
  });
});
