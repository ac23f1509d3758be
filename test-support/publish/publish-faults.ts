/** Every fault at every step of a publish of an order with results (docs/publish.md); one kind of target at a time. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { IdPolicy, ReferencePolicy } from '../../src/publish/servers/fhir-server.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import type { Fault } from '../fhir-server/faults.ts';
import { serveFhir, type TestFhirServer } from '../fhir-server/start.ts';
import { sized } from '../sized.ts';
import {
  CLINICAL_MARKS,
  createClinic,
  createTestPublisher,
  type PublishClinic,
  type TestPublisher,
} from './publish-records.ts';
import { requireWhole } from './published.ts';

const RESULTS = sized(4, 20);
/** Fewer than there are results: some wait for their turn. */
const IN_FLIGHT = sized(3, 8);
/** The order, the results and the report. */
const OWN_STEPS = RESULTS + 2;
/** Organization, Practitioner, Patient and Encounter go ahead. */
const SENT_AHEAD = 4;
/** For what is not answered; everything else has time, also on a machine that is busy. */
const SHORT_MS = 150;
const LONG_MS = 10_000;
const DIAGNOSTICS = `Value "123456.789" of Quokkaitis for Noor Rivers (Zyxwvutsrq) failed validation`;

type Scripted = Omit<Fault, 'nth'>;

/** One stroke of these is got over within the publish. */
const TRANSIENT: Record<string, Scripted> = {
  drop: { kind: 'drop' },
  'drop after it was done': { kind: 'drop-after' },
  'reset half way through the answer': { kind: 'reset' },
  'slow beyond the time-out, done late': { kind: 'slow', delayMs: 2 * SHORT_MS },
  'slow beyond the time-out, done at once': { kind: 'slow-after', delayMs: 2 * SHORT_MS },
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

/** Nothing is there, and the target says so: an update under our id makes it, a create has no other way. */
const MISSING: Record<string, Scripted> = {
  404: { kind: 'status', status: 404, diagnostics: DIAGNOSTICS },
  410: { kind: 'status', status: 410, diagnostics: DIAGNOSTICS },
};
const NOT_ALLOWED: Record<string, Scripted> = {
  405: { kind: 'status', status: 405, diagnostics: DIAGNOSTICS },
};

export function describeFaults(idPolicy: IdPolicy, referencePolicy: ReferencePolicy = 'literal'): void {
  const steps = referencePolicy === 'send' ? OWN_STEPS + SENT_AHEAD : OWN_STEPS;
  const transient = idPolicy === 'client' ? { ...TRANSIENT, ...MISSING } : TRANSIENT;
  const final = { ...FINAL, ...NOT_ALLOWED, ...(idPolicy === 'client' ? {} : MISSING) };
  describe(`faults at every step, ids by ${idPolicy}, references ${referencePolicy}`, () => {
    let database: TestDatabase;
    let server: TestFhirServer;
    let clinic: PublishClinic;
    before(async () => {
      database = await createTestDatabase();
      server = await serveFhir(
        ...(referencePolicy === 'send' ? [] : ['--no-integrity']),
        ...(idPolicy === 'server' ? ['--no-client-ids'] : []),
      );
      clinic = await createClinic(database.pool, { results: RESULTS });
    });
    after(async () => {
      await server.stop();
      await database.drop();
    });

    /** A target that holds nothing yet. */
    async function fresh({
      kind,
    }: Scripted): Promise<TestPublisher & { fhirServerId: string; target: string }> {
      await server.reset();
      const publisher = createTestPublisher(database.pool);
      const { id, name } = await publisher.addTarget(clinic, {
        base: server.base,
        idPolicy,
        referencePolicy,
        maxInFlight: IN_FLIGHT,
        timeoutMs: kind.startsWith('slow') ? SHORT_MS : LONG_MS,
      });
      return { ...publisher, fhirServerId: id, target: name };
    }

    for (const [name, fault] of Object.entries(transient))
      test(`${name}, once: got over, complete, no doubles [PUB-30]`, async () => {
        for (let step = 1; step <= steps; step += 1) {
          const { publish, target, fhirServerId } = await fresh(fault);
          await server.script({ ...fault, nth: step });
          const published = await publish(clinic, { target });
          assert.equal(published.length, steps, `step ${step}`);
          const { seen } = await server.state();
          assert.equal(
            seen.filter((request) => request.fault !== undefined).length,
            1,
            `it struck at step ${step}`,
          );
          // What is done after the time-out makes one version more than the one that was answered.
          const late = fault.kind === 'slow';
          await requireWhole({ db: database.pool, server, clinic, fhirServerId, late });
        }
      });

    for (const [name, fault] of Object.entries(final))
      test(`${name}: 502, and the next publish goes on without doubles [PUB-28, PUB-30]`, async () => {
        for (let step = 1; step <= steps; step += 1) {
          const { publish, target, fhirServerId } = await fresh(fault);
          await server.script({ ...fault, nth: step });
          await assert.rejects(
            publish(clinic, { target }),
            (error: { statusCode: number; message: string }) => {
              assert.equal(error.statusCode, 502, error.message);
              assert.match(error.message, /stopped at [A-Z][A-Za-z]+ [0-9a-f-]{36}: /);
              for (const mark of CLINICAL_MARKS) assert.ok(!error.message.includes(mark), error.message);
              return true;
            },
          );
          const stored = (await server.state()).resources;
          const isAll = fault.kind === 'drop-after' && step === steps;
          assert.equal(stored.length === steps, isAll, 'it stopped before the end');
          await server.script();
          const published = await publish(clinic, { target });
          assert.equal(published.length, steps);
          const { seen } = await server.state();
          if (fault.kind === 'status')
            assert.equal(
              seen.filter(({ method }) => method !== 'GET').length,
              steps - stored.length,
              'it went on',
            );
          await requireWhole({ db: database.pool, server, clinic, fhirServerId });
        }
      });
  });
}
