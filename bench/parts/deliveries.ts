/**
 * Deliveries per second of one worker to a local exchange, beside a bare loop that signs and posts the same bodies
 * with the same concurrency and no queue; and with a long backlog beside a short one.
 *
 * By itself: node bench/parts/deliveries.ts [--rounds N], with the pinned Node.js. `npm run bench` runs it with 3 rounds.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openEmbeddedPostgres } from '../../local-postgres/embedded-postgres.ts';
import { BY_OPERATOR } from '../../src/exchange/connections/connection.ts';
import { createConnection } from '../../src/exchange/connections/create-connection.ts';
import { signRequest } from '../../src/exchange/signing/signed-request.ts';
import { createDeliveryPool } from '../../src/exchange/worker/delivery-pool.ts';
import { DELIVERY } from '../../src/exchange/worker/delivery-settings.ts';
import { createDeliveryWorker } from '../../src/exchange/worker/delivery-worker.ts';
import { createSender } from '../../src/exchange/worker/send.ts';
import { createKeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { migrate, SERVICE_ROLE } from '../../src/platform/db/migrate.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { createAccessLogWriter } from '../../src/privacy/access-log/access-log.writer.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';

export interface DeliveryNumbers {
  /** Deliveries per second: signing and posting alone, and through the queue with 20,000 patients waiting. */
  bare: number;
  queued: number;
  ratio: number;
  /** Deliveries per second with 10,000 deliveries waiting, and with 1,000,000. */
  backlog10k: number;
  backlog1m: number;
  backlogRatio: number;
}

const PATIENTS = 20_000;
const CONCURRENCY = 32;
const keys = createKeyRing(randomBytes(32));

/** Measures on an empty, migrated database: a warm-up, then `rounds` rounds. Returns the median of each number. */
export async function measureDeliveries(
  url: string,
  rounds: number,
  say: (line: string) => void,
): Promise<DeliveryNumbers> {
  const db = createPool(
    { url, max: 10, applicationName: 'bench deliveries', role: SERVICE_ROLE },
    () => undefined,
  );
  const workerPool = createDeliveryPool({ url, max: 6, role: SERVICE_ROLE }, () => undefined);
  const exchange = await startExchange();
  try {
    const bench = {
      quieten: () => quieten(url),
      db,
      workerPool,
      address: exchange.address,
      place: await seedPatients(db),
    };
    const million = await seedBacklog(bench, PATIENTS, 50);
    const measured: DeliveryNumbers[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const waiting = await seedBacklog(bench, PATIENTS, 1);
      const short = await seedBacklog(bench, 10_000, 1);
      // What is compared stands side by side, because machines are noisy.
      const before = await bareLoop(bench, PATIENTS);
      const queued = await drain(bench, waiting, PATIENTS);
      const after = await bareLoop(bench, PATIENTS);
      const bare = 2 / (1 / before + 1 / after);
      const backlog10k = await drain(bench, short, 10_000);
      const backlog1m = await drain(bench, million, 10_000);
      const numbers = {
        bare,
        queued,
        ratio: queued / bare,
        backlog10k,
        backlog1m,
        backlogRatio: backlog10k / backlog1m,
      };
      say(`${round === 0 ? 'warm-up' : `round ${round}`}: ${describe(numbers)}`);
      if (round > 0) measured.push(numbers);
    }
    const middle = (read: (numbers: DeliveryNumbers) => number) =>
      measured.map(read).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? 0;
    return {
      bare: middle((n) => n.bare),
      queued: middle((n) => n.queued),
      ratio: middle((n) => n.ratio),
      backlog10k: middle((n) => n.backlog10k),
      backlog1m: middle((n) => n.backlog1m),
      backlogRatio: middle((n) => n.backlogRatio),
    };
  } finally {
    exchange.process.kill();
    await workerPool.end();
    await db.end();
  }
}

export function describe(n: DeliveryNumbers): string {
  return (
    `bare ${n.bare.toFixed(0)}/s, queued ${n.queued.toFixed(0)}/s (${n.ratio.toFixed(2)} of bare); ` +
    `backlog of 10,000 ${n.backlog10k.toFixed(0)}/s, of 1,000,000 ${n.backlog1m.toFixed(0)}/s (${n.backlogRatio.toFixed(2)} times)`
  );
}

interface Bench {
  db: Pool;
  workerPool: Pool;
  address: string;
  /** Let the server finish what loading left behind, so that it is not measured. */
  quieten: () => Promise<void>;
  place: { organisationId: string; facilityId: string };
}

async function seedPatients(db: Pool): Promise<Bench['place']> {
  const { id: organisationId } = await createOrganisation(db, { name: 'Bench' });
  const { id: facilityId } = await createFacility(db, { organisationId, name: 'Bench' });
  await db.query({
    text: `
      insert into patient (organisation_id, id, content_digest)
      select $1, gen_random_uuid(), '\\x00'
      from generate_series(1, $2::integer)`,
    values: [organisationId, PATIENTS],
  });
  return { organisationId, facilityId };
}

/** A connection with `each` deliveries waiting for each of `patients` patients. */
async function seedBacklog(
  { db, address, place, quieten }: Bench,
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
  const owner = createPool({ url, max: 1, applicationName: 'bench' }, () => undefined);
  for (const table of ['exchange_lane', 'exchange_delivery', 'exchange_head', 'exchange_attempt'])
    await owner.query(`vacuum (analyze) ${table}`);
  // Needs a superuser; without one the measurement is only less even.
  await owner.query('checkpoint').catch(() => undefined);
  await owner.end();
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

/** Signs and posts, nothing else. Returns requests per second. */
async function bareLoop({ address }: Bench, count: number): Promise<number> {
  const sender = createSender(address, { maxInFlight: CONCURRENCY, timeoutMs: 10_000, reach: 'operator' });
  const text = body();
  const secret = randomBytes(32).toString('base64url');
  let left = count;
  const startedMs = performance.now();
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      const nonce = randomUUID();
      const { path, query } = sender;
      const answer = await sender.post(text, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        ...signRequest(
          { method: 'POST', path, query, body: text, clientId: 'bench', time: new Date(), nonce },
          secret,
        ),
        'x-idempotency-key': nonce,
        'x-correlation-id': nonce,
      });
      if (answer.kind !== 'answered' || answer.status !== 200) throw new Error('the exchange failed');
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  sender.close();
  return (count * 1_000) / (performance.now() - startedMs);
}

/** Runs one worker until `count` deliveries are done and written down. Returns deliveries per second. */
async function drain({ db, workerPool, place }: Bench, connectionId: string, count: number): Promise<number> {
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
  const rate = (done * 1_000) / (performance.now() - startedMs);
  await disable(db, place.organisationId, connectionId, true);
  return rate;
}

async function startExchange(): Promise<{ address: string; process: ChildProcess }> {
  const child = fork(new URL('exchange.ts', import.meta.url), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('The exchange has no output.');
  const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { address, process: child };
}

async function main(): Promise<void> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const dataDir = await mkdtemp(join(tmpdir(), 'interchange-bench-'));
  const database = await openEmbeddedPostgres({
    dataDir,
    log: { info: () => undefined, error: () => undefined },
  });
  try {
    await migrate(database.url);
    const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1] || 3) || 3;
    say(`median: ${describe(await measureDeliveries(database.url, rounds, say))}`);
  } finally {
    await database.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
