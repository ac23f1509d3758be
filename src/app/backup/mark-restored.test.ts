import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { leaseDue } from '../../exchange/queue/lane.store.ts';
import { settle } from '../../exchange/queue/settle.store.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool } from '../../platform/db/database.ts';
import { markRestored } from './mark-restored.ts';

const keys = createKeyRing(randomBytes(32));
const database = await createTestDatabase();
const owner = createPool({ url: database.adminUrl, max: 2, applicationName: 'test' }, () => undefined);
after(async () => {
  await owner.end();
  await database.drop();
});

const mark = (dryRun = false) => markRestored(owner, keys, { backupTakenAt: null, dryRun });
const rows = async (text: string, ...values: unknown[]) => (await owner.query({ text, values })).rows;

async function makePlace() {
  const place = await createPlace(database.pool);
  const { id: connectionId } = await connect({ pool: database.pool, keys }, place, {
    address: 'http://127.0.0.1:9/in',
  });
  return { place, key: { organisationId: place.organisationId, connectionId } };
}

test('what waits and what comes later is numbered above everything that went out before [EXC-54]', async () => {
  const { place, key } = await makePlace();
  const [sent = '', waiting = '', later = ''] = await insertPatients(database.pool, place, 3);
  await queue(database.pool, place, [sent]);
  const token = '5d3c8a52-6f0e-4a55-8f5c-1f1f6a1f2b3c';
  const lease = () => leaseDue(database.pool, key, { token, durationMs: 60_000, limit: 10 });
  const [first] = await lease();
  assert.ok(first);
  const result = {
    patientId: sent,
    sequence: 1,
    leaseToken: token,
    next: { kind: 'advance' as const },
    attempt: null,
    counted: true,
  };
  await settle(database.pool, key, [result]);
  await queue(database.pool, place, [waiting]);
  await rename(database.pool, place, [waiting], 'Second');
  const [leased] = await lease();
  assert.equal(leased?.sequence, 1);
  await owner.query(
    `insert into exchange_attempt (organisation_id, connection_id, patient_id, sequence, nonce, started_at, duration_ms,
       outcome, counted)
     values ($1, $2, $3, 1, $4, now(), 1, 'failed', true)`,
    [key.organisationId, key.connectionId, waiting, token],
  );
  const deliveries = () =>
    rows(
      `select id, patient_id, sequence, body from exchange_delivery where organisation_id = $1 order by patient_id, sequence`,
      key.organisationId,
    );
  const before = await deliveries();

  const planned = await mark(true);
  assert.equal(planned.renumbered, 2);
  assert.deepEqual(await deliveries(), before, 'a dry run changes nothing');

  const { sequenceFloor: floor, renumbered } = await mark();
  assert.equal(renumbered, 2);
  const marked = await deliveries();
  const numbers = (patientId: string) =>
    marked.filter((row) => row.patient_id === patientId).map(({ sequence }) => sequence);
  assert.deepEqual([numbers(sent), numbers(waiting)], [[1], [floor + 1, floor + 2]]);
  for (const row of marked) {
    const old = before.find(({ id }) => id === row.id);
    assert.deepEqual(
      JSON.parse(row.body),
      { ...JSON.parse(old?.body), sequence: row.sequence },
      'the number alone changes',
    );
  }
  const [attempt] = await rows('select sequence from exchange_attempt where patient_id = $1', waiting);
  assert.equal(attempt?.sequence, floor + 1, 'its tries stay with it');

  await settle(database.pool, key, [{ ...result, patientId: waiting }]);
  const again = await lease();
  assert.deepEqual(
    again.map(({ patientId, sequence, body }) => [patientId, sequence, JSON.parse(body ?? '').sequence]),
    [[waiting, floor + 1, floor + 1]],
    'a lease from before the mark moves nothing',
  );

  await rename(database.pool, place, [sent, waiting], 'Third');
  await queue(database.pool, place, [later]);
  const last = await rows(
    `select patient_id, max(sequence) as sequence from exchange_delivery where organisation_id = $1 group by 1`,
    key.organisationId,
  );
  assert.deepEqual(
    new Map(last.map((row) => [row.patient_id, row.sequence])),
    new Map([
      [sent, floor + 1],
      [waiting, floor + 3],
      [later, floor + 1],
    ]),
  );
  await rename(database.pool, place, [later], 'Fourth');
  assert.ok((await mark()).sequenceFloor > floor, 'and again, after another restore');
});

test('a change under way is waited for, and one that comes meanwhile is numbered above the floor [EXC-54]', async () => {
  const { place, key } = await makePlace();
  const ids = await insertPatients(database.pool, place, 2);
  await queue(database.pool, place, ids);
  let marked = false;
  const { sequenceFloor } = await callDuring(database.pool, {
    // What every change that queues deliveries reads first.
    change: (client) =>
      client.query('select from exchange_connection where organisation_id = $1', [key.organisationId]),
    call: () =>
      mark().finally(() => {
        marked = true;
      }),
    meanwhile: async () => assert.equal(marked, false),
  });
  await rename(database.pool, place, ids, 'After');
  const [lowest] = await rows(
    'select min(sequence) as sequence from exchange_delivery where organisation_id = $1',
    key.organisationId,
  );
  assert.equal(lowest?.sequence, sequenceFloor + 1);
});

test('a clock that is further back than an earlier restore is refused', async () => {
  const { place, key } = await makePlace();
  const ids = await insertPatients(database.pool, place, 1);
  await owner.query('update exchange_connection set sequence_floor = $2 where organisation_id = $1', [
    key.organisationId,
    Date.now() + 3_600_000,
  ]);
  await queue(database.pool, place, ids);
  await assert.rejects(mark(), /The clock of the database says .* Correct the clock/);
  await owner.query('delete from exchange_head where organisation_id = $1', [key.organisationId]);
  await owner.query('delete from exchange_delivery where organisation_id = $1', [key.organisationId]);
  await owner.query('delete from exchange_lane where organisation_id = $1', [key.organisationId]);
  await owner.query('update exchange_connection set sequence_floor = 0 where organisation_id = $1', [
    key.organisationId,
  ]);
});
