/**
 * Deliveries per second of one worker to a local exchange, beside floor (c): a loop that signs and posts the same bodies
 * with the same concurrency and no queue. And with a long backlog beside a short one.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BY_OPERATOR } from '../../src/exchange/connections/connection.ts';
import { createConnection } from '../../src/exchange/connections/create-connection.ts';
import { createDeliveryPool } from '../../src/exchange/worker/delivery-pool.ts';
import { DELIVERY } from '../../src/exchange/worker/delivery-settings.ts';
import { createDeliveryWorker } from '../../src/exchange/worker/delivery-worker.ts';
import { createSender } from '../../src/exchange/worker/send.ts';
import { createKeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { SERVICE_ROLE, withClient } from '../../src/platform/db/migrate.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { createAccessLogWriter } from '../../src/privacy/access-log/access-log.writer.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../src/tenancy/organisations/organisation-work.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { withTemporaryDatabase } from '../databases.ts';
import { describe, type Measurement, rateOf } from '../measure.ts';
import { times } from '../report.ts';

const CONCURRENCY = 32;
const keys = createKeyRing(randomBytes(32));

/** Deliveries waiting: in the queue that is drained, in the short backlog, and for each patient in the long one. */
interface Counts {
  patients: number;
  short: number;
  longEach: number;
}

export const deliveries: Part = {
  name: 'deliveries',
  summary: 'deliveries of one worker to a local exchange; a long backlog beside a short one',
  measure: (bench) => withTemporaryDatabase(bench.serverUrl, (url) => measureDeliveries(bench, url)),
};

async function measureDeliveries(bench: Bench, url: string): Promise<Row[]> {
  const { patients, short, longEach }: Counts = bench.options.quick
    ? { patients: 4_000, short: 2_000, longEach: 25 }
    : { patients: 20_000, short: 10_000, longEach: 50 };
  const db = createPool(
    { url, max: 10, applicationName: 'bench deliveries', role: SERVICE_ROLE },
    () => undefined,
  );
  const workerPool = createDeliveryPool({ url, max: 6, role: SERVICE_ROLE }, () => undefined);
  const exchange = await startExchange();
  try {
    const setup = {
      quieten: () => quieten(url),
      db,
      workerPool,
      address: exchange.address,
      place: await seedPatients(db, patients),
    };
    const longBacklog = await seedBacklog(setup, patients, longEach);
    const result = await compare(bench, {
      c: () => bareLoop(setup, patients),
      queued: async () => drain(setup, await seedBacklog(setup, patients, 1), patients),
      short: async () => drain(setup, await seedBacklog(setup, short, 1), short),
      long: () => drain(setup, longBacklog, short),
    });
    const waiting = (count: number) => count.toLocaleString('en');
    return [
      {
        what: 'Deliveries',
        measured: `${describe(result.of('queued'))}; (c) ${describe(result.of('c'))}`,
        reached: `${times(result.ratio('queued', 'c'))} of (c)`,
        aim: '0.6 of (c)',
      },
      {
        what: `Backlog of ${waiting(patients * longEach)} beside ${waiting(short)}`,
        measured: `${describe(result.of('long'))} and ${describe(result.of('short'))}`,
        reached: `${times(result.ratio('short', 'long'))} times`,
        aim: 'within 1.2 times',
      },
    ];
  } finally {
    exchange.process.kill();
    await workerPool.end();
    await db.end();
  }
}

interface Setup {
  db: Pool;
  workerPool: Pool;
  address: string;
  /** Let the server finish what loading left behind, so that it is not measured. */
  quieten: () => Promise<void>;
  place: { organisationId: string; facilityId: string };
}

async function seedPatients(db: Pool, count: number): Promise<Setup['place']> {
  const { id: organisationId } = await createOrganisation(db, { name: 'Bench' });
  const { id: facilityId } = await createFacility(db, { organisationId, name: 'Bench' });
  await db.query({
    text: `
      insert into patient (organisation_id, id, content_digest)
      select $1, gen_random_uuid(), '\\x00'
      from generate_series(1, $2::integer)`,
    values: [organisationId, count],
  });
  return { organisationId, facilityId };
}

/** A connection with `each` deliveries waiting for each of `patients` patients. */
async function seedBacklog(
  { db, address, place, quieten }: Setup,
  patients: number,
  each: number,
): Promise<string> {
  const { id } = await createConnection(
    { db, keys, publicBaseUrl: 'http://localhost/api/v1', now: new Date(), author: BY_OPERATOR },
    place,
    { name: 'Bench', address, clientId: 'bench', facilityIds: null, maxInFlight: CONCURRENCY },
  );
  const values = [place.organisationId, id, patients];
  await db.query({
    text: `
      insert into exchange_lane (organisation_id, connection_id, patient_id, last_sequence, digest)
      select $1, $2, p.id, $4, '\\x00'
      from (select id from patient where organisation_id = $1 limit $3) p`,
    values: [...values, each],
  });
  await db.query({
    text: `
      insert into exchange_delivery (organisation_id, connection_id, patient_id, sequence, id, facility_id, event,
        occurred_at, body)
      select $1, $2, l.patient_id, s, gen_random_uuid(), $3, 'patient.updated', now(), $5
      from exchange_lane l, generate_series(1, $4::integer) s
      where l.organisation_id = $1
        and l.connection_id = $2`,
    values: [place.organisationId, id, place.facilityId, each, body()],
  });
  await db.query({
    text: `
      insert into exchange_head (organisation_id, connection_id, patient_id, sequence, last_sequence, queued_at, due_at)
      select $1, $2, patient_id, 1, last_sequence, now(), now()
      from exchange_lane
      where organisation_id = $1
        and connection_id = $2`,
    values: [place.organisationId, id],
  });
  await disable(db, place.organisationId, id, true);
  await quieten();
  return id;
}

async function quieten(url: string): Promise<void> {
  await withClient(url, async (owner) => {
    await owner.query('vacuum (analyze) exchange_lane, exchange_delivery, exchange_head, exchange_attempt');
    // Needs a superuser; without one the measurement is only less even.
    await owner.query('checkpoint').catch(() => undefined);
  });
}

async function disable(db: Pool, organisationId: string, id: string, disabled: boolean): Promise<void> {
  await db.query({
    text: `update exchange_connection set disabled_at = case when $3 then now() end where organisation_id = $1 and id = $2`,
    values: [organisationId, id, disabled],
  });
}

/** An envelope of an ordinary size. */
function body(): string {
  return JSON.stringify({
    deliveryId: randomUUID(),
    event: 'patient.updated',
    occurredAt: new Date(),
    organisationId: randomUUID(),
    facilityId: randomUUID(),
    connectionId: randomUUID(),
    sequence: 1,
    resource: {
      resourceType: 'Patient',
      id: randomUUID(),
      meta: { versionId: '3', lastUpdated: new Date() },
      identifier: [1, 2, 3].map((n) => ({
        system: `https://example.org/identifiers/${n}`,
        value: randomUUID(),
      })),
      active: true,
      name: [{ use: 'official', family: 'Example-Family', given: ['Given', 'Middle'], prefix: ['Ms.'] }],
      telecom: [{ system: 'phone', value: '+234 1 555 0100', use: 'home' }],
      gender: 'female',
      birthDate: '1974-12-25',
      address: [
        { line: ['12 Example Street'], city: 'Ikeja', state: 'Lagos', postalCode: '100001', country: 'NG' },
      ],
      maritalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }],
      },
      communication: [
        { language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en-NG' }], text: 'English' } },
      ],
    },
  });
}

/** Signs and posts, nothing else. */
async function bareLoop({ address }: Setup, count: number): Promise<Measurement> {
  const sender = createSender(address, {
    clientId: 'bench',
    maxInFlight: CONCURRENCY,
    timeoutMs: 10_000,
    reach: 'operator',
  });
  const text = body();
  const secret = randomBytes(32).toString('base64url');
  let left = count;
  const startedMs = performance.now();
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      const nonce = randomUUID();
      const answer = await sender.post({ body: text, deliveryId: nonce, nonce, time: new Date(), secret });
      if (answer.kind !== 'answered' || answer.status !== 200) throw new Error('the exchange failed');
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  sender.close();
  return rateOf(count, (performance.now() - startedMs) / 1_000);
}

/** Runs one worker until `count` deliveries are done and written down. */
async function drain(
  { db, workerPool, place }: Setup,
  connectionId: string,
  count: number,
): Promise<Measurement> {
  await disable(db, place.organisationId, connectionId, false);
  const accessLog = createAccessLogWriter({
    pool: db,
    chainKey: async () => keys.derive('access-log'),
    now: () => new Date(),
    onError: () => undefined,
  });
  let done = 0;
  const finished = Promise.withResolvers<void>();
  const worker = createDeliveryWorker({
    db: workerPool,
    work: createWorkWatch().of('deliveries'),
    keys,
    accessLog,
    log: createLog('warn', process.stderr),
    now: () => new Date(),
    settings: DELIVERY,
    onAttempt: () => {
      done += 1;
      if (done === count) finished.resolve();
    },
  });
  const startedMs = performance.now();
  worker.start();
  await finished.promise;
  await worker.stop();
  await accessLog.close();
  const rate = rateOf(done, (performance.now() - startedMs) / 1_000);
  await disable(db, place.organisationId, connectionId, true);
  return rate;
}

async function startExchange(): Promise<{ address: string; process: ChildProcess }> {
  const child = fork(new URL('../exchange.ts', import.meta.url), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('The exchange has no output.');
  const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { address, process: child };
}
