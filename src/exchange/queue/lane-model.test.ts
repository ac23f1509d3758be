/** Leases against a model: whatever order events come in, a lane has one live lease and its deliveries go in order. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { type ConnectionKey, leaseDue, release } from './lane.store.ts';
import { type DeliveryResult, settle } from './settle.store.ts';

const WORKERS = 3;
const PATIENTS = 4;
const LEASE_MS = 60_000;

const database = await useTestDatabase();
const place = await createPlace(database.pool);
const keys = createKeyRing(randomBytes(32));
const connection = await connect({ pool: database.pool, keys }, place, {
  address: 'https://hie.example.org',
});
const key: ConnectionKey = { organisationId: place.organisationId, connectionId: connection.id };

interface Held {
  token: string;
  patientId: string;
  sequence: number;
}

/** What must be true, beside what the database says. */
interface Model {
  patients: string[];
  /** Token of the one lease of a patient that is live. */
  live: Map<string, string>;
  /** Leases that have ended and that nobody took over: their holder may still settle. */
  ended: Set<string>;
  /** What each worker believes to hold. */
  holding: Held[][];
  done: Map<string, number[]>;
  versions: number;
}

type Step = (model: Model) => Promise<void>;

const worker = fc.nat(WORKERS - 1);
const patient = fc.nat(PATIENTS - 1);
const steps: fc.Arbitrary<{ name: string; run: Step }> = fc.oneof(
  fc
    .tuple(worker, fc.integer({ min: 1, max: PATIENTS }))
    .map(([who, limit]) => ({ name: `lease ${who} ${limit}`, run: take(who, limit) })),
  fc
    .tuple(worker, fc.constantFrom('advance', 'retry', 'hold'))
    .map(([who, how]) => ({ name: `settle ${who} ${how}`, run: finish(who, how) })),
  worker.map((who) => ({ name: `give back ${who}`, run: giveBack(who) })),
  patient.map((index) => ({ name: `expire ${index}`, run: expire(index) })),
  patient.map((index) => ({ name: `change ${index}`, run: change(index) })),
);

test('a lane never has two live leases, and its deliveries are done in order, none twice, none left out [EXC-13]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (run) => {
      const model = await freshModel();
      for (const step of run) await step.run(model);
      for (const sequences of model.done.values())
        assert.deepEqual(
          sequences,
          sequences.map((_, index) => index + 1),
        );
    }),
    { numRuns: 80 },
  );
});

async function freshModel(): Promise<Model> {
  await database.pool.query('delete from exchange_head where organisation_id = $1', [place.organisationId]);
  const patients = await insertPatients(database.pool, place, PATIENTS);
  await queue(database.pool, place, patients);
  const holding = Array.from({ length: WORKERS }, (): Held[] => []);
  return { patients, live: new Map(), ended: new Set(), holding, done: new Map(), versions: 0 };
}

function take(who: number, limit: number): Step {
  return async (model) => {
    const token = randomUUID();
    for (const { patientId, sequence } of await leaseDue(database.pool, key, {
      token,
      durationMs: LEASE_MS,
      limit,
    })) {
      assert.ok(!model.live.has(patientId) || model.ended.has(patientId), 'a live lease was given away');
      model.live.set(patientId, token);
      model.ended.delete(patientId);
      model.holding[who]?.push({ token, patientId, sequence });
    }
  };
}

function finish(who: number, how: string): Step {
  return async (model) => {
    const item = model.holding[who]?.shift();
    if (item === undefined) return;
    const { moved } = await settle(database.pool, key, [resultOf(item, how)]);
    assert.equal(
      moved.has(item.patientId),
      model.live.get(item.patientId) === item.token,
      'the holder settles, nobody else',
    );
    if (!moved.has(item.patientId)) return;
    drop(model, item.patientId);
    if (how === 'advance')
      model.done.set(item.patientId, [...(model.done.get(item.patientId) ?? []), item.sequence]);
  };
}

function resultOf({ patientId, sequence, token }: Held, how: string): DeliveryResult {
  const next: DeliveryResult['next'] =
    how === 'advance'
      ? { kind: 'advance' }
      : how === 'retry'
        ? { kind: 'retry', afterMs: 0 }
        : { kind: 'hold', reason: 'refused_422' };
  return { patientId, sequence, leaseToken: token, next, attempt: null, counted: true };
}

function giveBack(who: number): Step {
  return async (model) => {
    for (const { token, patientId } of model.holding[who]?.splice(0) ?? []) {
      await release(database.pool, key, { token, patientIds: [patientId] });
      if (model.live.get(patientId) === token) drop(model, patientId);
    }
  };
}

/** Time passes: the lease of one patient ends, and its holder does not know. */
function expire(index: number): Step {
  return async (model) => {
    const patientId = model.patients[index] ?? '';
    await database.pool.query(
      `update exchange_head set leased_until = '-infinity' where organisation_id = $1 and patient_id = $2`,
      [place.organisationId, patientId],
    );
    if (model.live.has(patientId)) model.ended.add(patientId);
  };
}

function change(index: number): Step {
  return async (model) => {
    model.versions += 1;
    await rename(database.pool, place, [model.patients[index] ?? ''], String(model.versions));
  };
}

function drop(model: Model, patientId: string): void {
  model.live.delete(patientId);
  model.ended.delete(patientId);
}
