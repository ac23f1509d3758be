/** Changes of very many patients in one transaction, such as those of one Bundle. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import { connect, insertPatients } from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { enqueuePatientChanges } from './enqueue-patient-changes.ts';

const PATIENTS = 1_100;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

test('deliveries of many patients are made and queued some at a time, by connection and patient [EXC-2, IN-4]', async () => {
  const { pool } = database;
  const place = await createPlace(pool);
  const keys = createKeyRing(randomBytes(32));
  for (const name of ['one', 'two'])
    await connect({ pool, keys }, place, { name, address: 'https://hie.example.org' });
  const ids = await insertPatients(pool, place, PATIENTS);
  const sizes: number[] = [];
  const lanes: string[] = [];
  const queue = () =>
    transaction(pool, (client) => {
      const { db } = watchPool(client as unknown as Pool, ({ name = '', values = [] }) => {
        const [, connections = [], patients = []] = values as string[][];
        if (name !== 'exchange-insert-deliveries') return name;
        sizes.push(patients.length);
        for (const [index, patient] of patients.entries()) lanes.push(`${connections[index]} ${patient}`);
        return name;
      });
      const changes = ids.map((patientId) => ({ patientId, event: 'created' as const }));
      return enqueuePatientChanges(db as unknown as Client, place, changes);
    });

  assert.equal(await queue(), 2 * PATIENTS);
  assert.ok(Math.max(...sizes) <= 500, `${Math.max(...sizes)} deliveries in one statement`);
  const batches = sizes.map((size) => lanes.splice(0, size).sort());
  assert.deepEqual(batches.flat(), batches.flat().toSorted());
  const { rows } = await pool.query<{ lanes: number; deliveries: number }>(
    `select count(distinct (connection_id, patient_id))::int as lanes, count(*)::int as deliveries
     from exchange_delivery
     where organisation_id = $1 and sequence = 1`,
    [place.organisationId],
  );
  assert.deepEqual(rows, [{ lanes: 2 * PATIENTS, deliveries: 2 * PATIENTS }]);
  assert.equal(await queue(), 0, 'nothing changed');
});
