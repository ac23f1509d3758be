import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { ONE_FAILS, prepareFaults } from '../../../test-support/database/failing-organisation.ts';
import {
  connect,
  insertPatients,
  type Place,
  queue,
} from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { registerQueueGauges } from './exchange-metrics.ts';

let failing: () => string[];
let place: Place;
let connectionId: string;
let registry: Registry;
/** The clock of the process. It goes on by `stepMs` each time that it is read. */
let clock: { ms: number; stepMs: number };
const keys = createKeyRing(randomBytes(32));

const database = await useTestDatabase();
const faults = await prepareFaults(database);
beforeEach(async () => {
  place = await createPlace(database.pool);
  ({ id: connectionId } = await connect({ pool: database.pool, keys }, place, {
    address: 'https://hie.example.org',
  }));
  registry = new Registry();
  clock = { ms: 0, stepMs: 0 };
  const watch = createWorkWatch();
  failing = () => watch.failing().get('queue-counts') ?? [];
  registerQueueGauges(registry, { db: database.pool, work: watch.of('queue-counts') }, () => {
    clock.ms += clock.stepMs;
    return clock.ms;
  });
});

async function insertOther(id: string): Promise<void> {
  await createOrganisation(database.pool, { id, name: 'Other' });
  const { id: facilityId } = await createFacility(database.pool, { organisationId: id, name: 'Clinic' });
  const address = 'https://hie.example.org';
  await connect({ pool: database.pool, keys }, { organisationId: id, facilityId }, { address });
}

const queueMore = async (patients: number) =>
  queue(database.pool, place, await insertPatients(database.pool, place, patients));
const scrape = async () => {
  const text = await registry.metrics();
  return Number(
    new RegExp(`^interchange_exchange_queued\\{connection="${connectionId}"\\} (\\d+)`, 'm').exec(text)?.[1],
  );
};

describe('the count of what waits', () => {
  test('is good for a while, and is made anew by a scrape that finds it old [EXC-52]', async () => {
    await queueMore(2);
    assert.equal(await scrape(), 2, 'a new connection is counted at once');
    await queueMore(1);
    clock.ms = 10_000;
    assert.equal(await scrape(), 2);
    clock.ms = 10_001;
    assert.equal(await scrape(), 3);
  });

  test('is made the more seldom, the longer it takes', async () => {
    clock.stepMs = 1_000;
    await queueMore(1);
    assert.equal(await scrape(), 1);
    clock.stepMs = 0;
    await queueMore(1);
    clock.ms = 30_000;
    assert.equal(await scrape(), 1);
    clock.ms = 1_000_000;
    assert.equal(await scrape(), 2);
  });

  test('is not waited for when it takes long: the last one is shown', async () => {
    await queueMore(2);
    assert.equal(await scrape(), 2);
    await queueMore(1);
    clock.ms = 60_000;
    const locking = await database.pool.connect();
    try {
      await locking.query('begin');
      await locking.query('lock table exchange_head in access exclusive mode');
      assert.equal(await scrape(), 2);
    } finally {
      await locking.query('rollback');
      locking.release();
    }
  });

  test(
    'of one organisation is shown while those of others hang, and goes on after that [OPS-29]',
    ONE_FAILS,
    async () => {
      // Whichever comes first, one of them comes before.
      const hung = ['0', 'f'].map((digit) => `${digit.repeat(8)}${randomUUID().slice(8)}`);
      for (const id of hung) await insertOther(id);
      for (const id of hung) await faults.hang(id, 'exchange_connection');
      try {
        await queueMore(2);
        await waitUntil(async () => (await scrape()) === 2, 'it is counted');
        assert.deepEqual(failing(), [], 'the others have not failed yet');
        await waitUntil(() => failing().length === hung.length, 'they are given up');
        await queueMore(1);
        clock.ms = 60_000;
        await waitUntil(async () => (await scrape()) === 3, 'it is counted again');
      } finally {
        for (const id of hung) await faults.mend(id);
      }
    },
  );

  test(
    'of an organisation that cannot be counted any more is shown no longer [OPS-29]',
    ONE_FAILS,
    async () => {
      await queueMore(2);
      assert.equal(await scrape(), 2);
      await faults.fail(place.organisationId, 'exchange_connection');
      clock.ms = 1_000_000;
      assert.equal(await scrape(), Number.NaN);
      await faults.mend(place.organisationId);
    },
  );
});
