/** Every fault at every step of a publish of an order with 20 results (design 3.5); one id policy at a time. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { IdPolicy } from '../src/publish/target.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import type { Fault } from './fhir-server/faults.ts';
import { startFhirServer, type TestFhirServer } from './fhir-server/start.ts';
import {
  CLINICAL_MARKS,
  createClinic,
  createTestPublisher,
  type PublishClinic,
  type TestPublisher,
} from './publish-records.ts';
import { requireWhole } from './published.ts';

const STEPS = 22;
const TIMEOUT_MS = 150;
const DIAGNOSTICS = `Value "123456.789" of Quokkaitis for Noor Rivers (Zyxwvutsrq) failed validation`;

type Scripted = Omit<Fault, 'nth'>;

/** One stroke of these is got over within the publish. */
const TRANSIENT: Record<string, Scripted> = {
  drop: { kind: 'drop' },
  'drop after it was done': { kind: 'drop-after' },
  'reset half way through the answer': { kind: 'reset' },
  'slow beyond the time-out, done late': { kind: 'slow', delayMs: 2 * TIMEOUT_MS },
  'slow beyond the time-out, done at once': { kind: 'slow-after', delayMs: 2 * TIMEOUT_MS },
  '429 with retry-after': { kind: 'status', status: 429, headers: { 'retry-after': '2' } },
  503: { kind: 'status', status: 503, diagnostics: DIAGNOSTICS },
  '503 after it was done': { kind: 'status-after', status: 503 },
  'wrong JSON': { kind: 'wrong-json' },
  'a page of a proxy': { kind: 'html' },
};

/** These stop the publish; the next one goes on. */
const FINAL: Record<string, Scripted> = {
  409: { kind: 'status', status: 409, diagnostics: DIAGNOSTICS },
  412: { kind: 'status', status: 412, diagnostics: DIAGNOSTICS },
  422: { kind: 'status', status: 422, diagnostics: DIAGNOSTICS },
  'a redirect': { kind: 'status', status: 307, headers: { location: 'http://127.0.0.1:9/elsewhere' } },
  '503 for longer than is waited': { kind: 'status', status: 503, times: 1_000, diagnostics: DIAGNOSTICS },
  'drop, done each time, for longer than is waited': { kind: 'drop-after', times: 1_000 },
};

export function describeFaults(idPolicy: IdPolicy): void {
  describe(`faults at every step, ids by ${idPolicy}`, () => {
    let database: TestDatabase;
    let server: TestFhirServer;
    let clinic: PublishClinic;
    before(async () => {
      database = await createTestDatabase();
      server = await startFhirServer('--no-integrity', ...(idPolicy === 'server' ? ['--no-client-ids'] : []));
      clinic = await createClinic(database.pool);
    });
    after(async () => {
      await server.stop();
      await database.drop();
    });

    /** A target that holds nothing yet. */
    async function fresh(): Promise<TestPublisher & { targetId: string; target: string }> {
      await server.reset();
      const publisher = createTestPublisher(database.pool);
      const { id, name } = await publisher.addTarget(clinic, {
        base: server.base,
        idPolicy,
        timeoutMs: TIMEOUT_MS,
      });
      return { ...publisher, targetId: id, target: name };
    }

    for (const [name, fault] of Object.entries(TRANSIENT))
      test(`${name}, once: got over, complete, no doubles`, async () => {
        for (let step = 1; step <= STEPS; step += 1) {
          const { publish, target, targetId } = await fresh();
          await server.script({ ...fault, nth: step });
          const published = await publish(clinic, { target });
          assert.equal(published.length, STEPS, `step ${step}`);
          const { seen } = await server.state();
          assert.equal(
            seen.filter((request) => request.fault !== undefined).length,
            1,
            `it struck at step ${step}`,
          );
          // What is done after the time-out makes one version more than the one that was answered.
          const late = fault.kind === 'slow';
          await requireWhole({ db: database.pool, server, clinic, targetId, late });
        }
      });

    for (const [name, fault] of Object.entries(FINAL))
      test(`${name}: 502, and the next publish goes on without doubles`, async () => {
        for (let step = 1; step <= STEPS; step += 1) {
          const { publish, target, targetId } = await fresh();
          await server.script({ ...fault, nth: step });
          await assert.rejects(
            publish(clinic, { target }),
            (error: { statusCode: number; message: string }) => {
              assert.equal(error.statusCode, 502, error.message);
              assert.match(
                error.message,
                /stopped at (ServiceRequest|Observation|DiagnosticReport) [0-9a-f-]{36}: /,
              );
              for (const mark of CLINICAL_MARKS) assert.ok(!error.message.includes(mark), error.message);
              return true;
            },
          );
          const stored = (await server.state()).resources;
          assert.ok(stored.length < STEPS || fault.kind === 'drop-after', 'it stopped before the end');
          await server.script();
          const published = await publish(clinic, { target });
          assert.equal(published.length, STEPS);
          const { seen } = await server.state();
          if (fault.kind === 'status')
            assert.equal(
              seen.filter(({ method }) => method !== 'GET').length,
              STEPS - stored.length,
              'it went on',
            );
          await requireWhole({ db: database.pool, server, clinic, targetId });
        }
      });
  });
}
