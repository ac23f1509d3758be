/** Changes of very many patients in one transaction, such as those of one Bundle. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import { connect, insertPatients, type Place } from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { enqueuePatientChanges } from './enqueue-patient-changes.ts';

const PATIENTS = 1_100;

const database = await useTestDatabase();

async function placeWith(...connections: string[]): Promise<Place> {
  const { pool } = database;
  const place = await createPlace(pool);
  const keys = createKeyRing(randomBytes(32));
  for (const name of connections)
    await connect({ pool, keys }, place, { name, address: 'https://hie.example.org' });
  return place;
}

/** Queues the patients. Also answers the lanes that each statement queued for. */
async function queue(place: Place, ids: readonly string[]): Promise<{ queued: number; lanes: string[][] }> {
  const lanes: string[][] = [];
  const queued = await transaction(database.pool, (client) => {
    const { db } = watchPool(client as unknown as Pool, ({ name = '', values = [] }) => {
      const [, connections = [], patients = []] = values as string[][];
      if (name === 'exchange-insert-deliveries')
        lanes.push(patients.map((patient, index) => `${connections[index]} ${patient}`).sort());
      return name;
    });
    const changes = ids.map((patientId) => ({ patientId, event: 'created' as const }));
    return enqueuePatientChanges(db as unknown as Client, place, changes);
  });
  return { queued, lanes };
}

test('deliveries of many patients are made and queued some at a time, by connection and patient [EXC-2, IN-4]', async () => {
  const { pool } = database;
  const place = await placeWith('one', 'two');
  const ids = await insertPatients(pool, place, PATIENTS);
  const { queued, lanes } = await queue(place, ids);
  assert.equal(queued, 2 * PATIENTS);
  assert.deepEqual(
    lanes.map(({ length }) => length),
    [1_000, 100, 1_000, 100],
  );
  assert.deepEqual(lanes.flat(), lanes.flat().toSorted());
  const { rows } = await pool.query<{ lanes: number; deliveries: number }>(
    `select count(distinct (connection_id, patient_id))::int as lanes, count(*)::int as deliveries
     from exchange_delivery
     where organisation_id = $1 and sequence = 1`,
    [place.organisationId],
  );
  assert.deepEqual(rows, [{ lanes: 2 * PATIENTS, deliveries: 2 * PATIENTS }]);
  assert.deepEqual(await queue(place, ids), { queued: 0, lanes: [] }, 'nothing changed');
});

test('deliveries of large patients are made and queued one at a time, those of small ones together [EXC-2, IN-4]', async () => {
  const place = await placeWith('one', 'two');
  const [first = '', second = '', ...others] = (await insertPatients(database.pool, place, 5)).sort();
  await database.pool.query('update patient set rendered = $2 where id = any($1)', [
    [first, second],
    'x'.repeat(5 * 1024 ** 2),
  ]);
  const { lanes } = await queue(place, [...others, second, first]);
  assert.deepEqual(
    lanes.map((some) => some.map((lane) => lane.split(' ')[1])),
    [[first], [second, ...others], [first], [second, ...others]],
  );
  const few = await placeWith('one', 'two');
  const { lanes: together } = await queue(few, await insertPatients(database.pool, few, 5));
  assert.deepEqual(
    together.map(({ length }) => length),
    [10],
  );
});
