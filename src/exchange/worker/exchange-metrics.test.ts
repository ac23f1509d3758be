import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database.ts';
import { connect, insertPatients, type Place, queue } from '../../../test-support/exchange-records.ts';
import { ONE_FAILS, prepareFaults } from '../../../test-support/failing-organisation.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { registerQueueGauges } from './exchange-metrics.ts';

let database: TestDatabase;
let place: Place;
let connectionId: string;
let registry: Registry;
/** The clock of the process. It goes on by `stepMs` each time that it is read. */
let clock: { ms: number; stepMs: number };
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
  registry = new Registry();
  clock = { ms: 0, stepMs: 0 };
  registerQueueGauges(registry, { db: database.pool, work: createWorkWatch().of('queue-counts') }, () => {
    clock.ms += clock.stepMs;
    return clock.ms;
  });
});

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

  test('of one organisation is shown while that of another hangs [OPS-29]', ONE_FAILS, async () => {
    const hung = await createOrganisation(database.pool, { name: 'Hung' });
    const { id: facilityId } = await createFacility(database.pool, {
      organisationId: hung.id,
      name: 'Clinic',
    });
    const elsewhere = { organisationId: hung.id, facilityId };
    await connect({ pool: database.pool, keys }, elsewhere, { address: 'https://hie.example.org' });
    const faults = await prepareFaults(database);
    await faults.hang(hung.id, 'exchange_connection');
    try {
      await queueMore(2);
      await waitUntil(async () => (await scrape()) === 2, 'it is counted');
      assert.equal((await faults.hanging()).length, 1);
    } finally {
      await faults.mend(hung.id);
      await faults.close();
    }
  });
});
