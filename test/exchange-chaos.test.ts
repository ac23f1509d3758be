/**
 * Everything is killed, nothing is lost: an API, two workers and PostgreSQL are killed with -9 at random, again and
 * again, while 500 patients change ten times each and the exchange drops, delays, fails and is down for a while.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { EmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { makeDataDir, openHere, serverPid } from '../test-support/database/embedded.ts';
import { createService, type Service } from '../test-support/exchange/exchange-processes.ts';
import {
  type Arrival,
  type Behaviour,
  startExchange,
  type TestExchange,
} from '../test-support/exchange/exchange-server.ts';
import { sized } from '../test-support/sized.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const PATIENTS = 500;
const ROUNDS = sized(5, 10);
const BATCH = 50;
const KILLS = sized(12, 20);
/** Contents that the exchange refuses for good: patient and round. */
const REFUSED = new Set(['7:3', '123:1', '123:2', `400:${ROUNDS}`]);

let folder: { path: string; remove(): Promise<void> };
let postgres: EmbeddedPostgres;
let service: Service;
let exchange: TestExchange;
let token: string;
let place: { organisationId: string; facilityId: string };
let connectionId: string;
let exchangeDown = false;
let calm = false;
/** Batches of changes that were taken. */
let batches = 0;
const isChanged = () => batches === (PATIENTS * ROUNDS) / BATCH;

before(async () => {
  folder = await makeDataDir();
  postgres = await openHere(folder.path);
  await migrate(postgres.url);
  exchange = await startExchange();
  exchange.behave = behave;
  service = await createService({
    DATABASE_URL: postgres.url,
    MASTER_KEY: randomBytes(32).toString('hex'),
    DELIVERY_RETRY_SECONDS: '0.2,0.4,0.8,1,1,2,2,3',
    DELIVERY_LEASE_SECONDS: '3',
    DELIVERY_PROBE_SECONDS: '1',
    DELIVERY_MAX_PROBE_SECONDS: '2',
    DELIVERY_POLL_MS: '100',
  });
  await setUp();
});
after(async () => {
  await service.stop();
  await exchange.close();
  await postgres.release();
  await folder.remove();
});

async function setUp(): Promise<void> {
  const { id: organisationId } = await service.command('organisation', 'create', '--name', 'Chaos');
  const { id: facilityId } = await service.command(
    'facility',
    'create',
    '--organisation',
    String(organisationId),
    '--name',
    'Clinic',
  );
  place = { organisationId: String(organisationId), facilityId: String(facilityId) };
  const inOrganisation = ['--organisation', place.organisationId];
  const [account, connection] = await Promise.all([
    service
      .command('role', 'create', ...inOrganisation, '--name', 'feeder', '--permissions', 'records.import')
      .then(() =>
        service.command(
          'account',
          'create',
          ...inOrganisation,
          '--facility',
          place.facilityId,
          '--email',
          'feeder@example.org',
          '--role',
          'feeder',
        ),
      ),
    service.command(
      'connection',
      'create',
      ...inOrganisation,
      '--name',
      'Exchange',
      '--address',
      exchange.url,
      '--client-id',
      'chaos',
      '--timeout-ms',
      '1000',
    ),
  ]);
  connectionId = String(connection.id);
  exchange.trust = { clientId: 'chaos', secrets: [String(connection.outboundSecret)] };
  service.start();
  const login = { identity: account.userId, credential: account.password, userType: 'EHR' };
  token = String((await insist('/auth/login', JSON.stringify(login), 'application/json')).accessToken);
}

/** Post until it is answered 200: what became of an unanswered request is not known, so it is sent again. */
async function insist(path: string, body: string, contentType: string): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = {
    'content-type': contentType,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return waitUntil(async () => {
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(service.baseUrl + path, { method: 'POST', headers, body, signal }).catch(
      () => undefined,
    );
    const text = await answer?.text().catch(() => undefined);
    return answer?.status === 200 && text !== undefined && (JSON.parse(text) as Record<string, unknown>);
  }, `${path} is answered`);
}

function patientLine(number: number, round: number): string {
  return JSON.stringify({
    resourceType: 'Patient',
    identifier: [{ system: 'https://example.org/chaos', value: `P${number}` }],
    name: [{ family: `Patient ${number}`, given: [`Round ${round}`] }],
    gender: 'unknown',
  });
}

/** Change every patient, round by round; two feeders share the patients. */
async function change(): Promise<void> {
  const feed = async (from: number, to: number) => {
    for (let round = 1; round <= ROUNDS; round += 1)
      for (let start = from; start < to; start += BATCH) {
        const lines = Array.from({ length: BATCH }, (_, index) => patientLine(start + index, round));
        const report = await insist('/imports/fhir', lines.join('\n'), 'application/fhir+ndjson');
        // A batch that was answered in part is sent again: what is there already changes nothing.
        if (report.rejectedCount !== 0) start -= BATCH;
        else batches += 1;
      }
  };
  await Promise.all([feed(0, PATIENTS / 2), feed(PATIENTS / 2, PATIENTS)]);
}

function behave(arrival: Arrival): Behaviour {
  if (exchangeDown) return 'drop';
  if (REFUSED.has(contentOf(arrival))) return { status: 422 };
  if (calm) return { status: 200 };
  const chance = Math.random();
  const delayMs = Math.random() < 0.3 ? Math.random() * 150 : 0;
  if (chance < 0.04) return 'drop';
  if (chance < 0.1) return { status: [500, 502, 503][randomInt(3)] ?? 500, delayMs };
  if (chance < 0.13) return { status: 429, headers: { 'retry-after': '1' } };
  if (chance < 0.135) return { status: 200, delayMs: 1_500 };
  return { status: 200, delayMs };
}

/** `patient:round` of an arrival. */
function contentOf({ envelope }: Pick<Arrival, 'envelope'>): string {
  const { identifier, name } = envelope.resource as unknown as {
    identifier: { value: string }[];
    name: { given: string[] }[];
  };
  return `${identifier[0]?.value.slice(1)}:${name[0]?.given[0]?.slice('Round '.length)}`;
}

async function killAll(): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    // Spread over the changes, at moments of chance: when so many requests more have come.
    await waitUntil(() => batches >= ((kill - 1) * PATIENTS * ROUNDS) / BATCH / KILLS, 'changes go on');
    const { length } = exchange.arrivals;
    const more = exchangeDown ? 0 : randomInt(30);
    await waitUntil(() => exchange.arrivals.length >= length + more || isChanged(), 'deliveries go on');
    if (kill === 8) exchangeDown = true;
    if (kill === 11) exchangeDown = false;
    const victim = kill % 5 === 0 ? service.count : randomInt(service.count);
    if (victim < service.count) await service.kill(victim);
    else process.kill(await serverPid(folder.path), 'SIGKILL');
  }
}

async function rows<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  return waitUntil(async () => {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text)).rows;
    } catch {
      return undefined;
    } finally {
      await client.end().catch(() => undefined);
    }
  }, text);
}

/** Wait until nothing but held deliveries is left. */
async function settled(): Promise<{ patient_id: string; held_reason: string }[]> {
  return waitUntil(async () => {
    const heads = await rows<{ patient_id: string; held_reason: string; held_at: Date | null }>(
      'select patient_id, held_reason, held_at from exchange_head',
    );
    return heads.every((head) => head.held_at !== null) && heads;
  }, 'every lane is done');
}

test('loses and reorders nothing, whatever is killed [LOG-17, EXC-8, EXC-13, EXC-20, EXC-50]', {
  timeout: 240_000,
}, async (t) => {
  t.after(() => {
    if (!t.passed) t.diagnostic(service.logs().slice(-4_000));
  });
  await Promise.all([change(), killAll()]);
  calm = true;
  let held = await settled();
  assert.deepEqual(
    [...new Set(held.map((head) => head.held_reason))],
    ['refused_422'],
    'nothing is held that was not refused',
  );
  assert.equal(held.length, 3, 'three patients have a refused delivery at the head of their lane');
  while (held.length > 0) {
    await service.command(
      'delivery',
      'skip',
      '--connection',
      connectionId,
      '--reason',
      'refused by the exchange',
    );
    held = await settled();
  }
  await service.stop();

  const arrived = Map.groupBy(exchange.arrivals, contentOf);
  const expected = Array.from(
    { length: PATIENTS * ROUNDS },
    (_, index) => `${Math.floor(index / ROUNDS)}:${(index % ROUNDS) + 1}`,
  );
  assert.deepEqual(
    expected.filter((content) => !arrived.has(content)),
    [],
    'every change arrives at least once',
  );
  assert.equal(arrived.size, expected.length, 'and nothing else does');
  for (const [content, same] of arrived)
    assert.equal(
      new Set(same.map(({ envelope, headers }) => `${envelope.deliveryId} ${headers['x-idempotency-key']}`))
        .size,
      1,
      `${content} keeps its delivery id`,
    );
  assertInOrder();
  assert.ok(
    exchange.arrivals.every(({ verdict }) => verdict === 'valid'),
    'every attempt is signed afresh',
  );
  t.diagnostic(
    `${exchange.arrivals.length} requests for ${PATIENTS * ROUNDS} changes; ${await assertLedgerAgrees()} logged and never settled`,
  );
  const verified = await service.command('access-log', 'verify');
  assert.ok(verified, 'the access log is whole');
});

function assertInOrder(): void {
  const first = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const { envelope } of exchange.arrivals) {
    if (seen.has(envelope.deliveryId)) continue;
    seen.add(envelope.deliveryId);
    const sequences = first.get(envelope.resource.id) ?? [];
    first.set(envelope.resource.id, [...sequences, envelope.sequence]);
  }
  assert.equal(first.size, PATIENTS);
  const inOrder = Array.from({ length: ROUNDS }, (_, index) => index + 1);
  for (const [patientId, sequences] of first)
    assert.deepEqual(sequences, inOrder, `patient ${patientId} at first arrival`);
}

/** Each delivery, attempt, access log entry and arrival has its counterparts. Returns accesses that were never settled. */
async function assertLedgerAgrees(): Promise<number> {
  const deliveries = async (condition = 'true') =>
    (await rows<{ count: number }>(`select count(*)::int from exchange_delivery d where ${condition}`))[0]
      ?.count;
  const ofDelivery = (alias: string) =>
    ['organisation_id', 'connection_id', 'patient_id', 'sequence']
      .map((column) => `${alias}.${column} = d.${column}`)
      .join(' and ');
  assert.equal(await deliveries(), PATIENTS * ROUNDS);
  assert.equal(
    await deliveries(
      `exists (select from exchange_attempt a where ${ofDelivery('a')} and a.outcome = 'delivered')`,
    ),
    PATIENTS * ROUNDS - REFUSED.size,
  );
  assert.equal(
    await deliveries(`exists (select from exchange_review v where ${ofDelivery('v')})`),
    REFUSED.size,
  );
  const logged = new Set(
    (
      await rows<{ correlation_id: string }>(
        `select correlation_id from access_log where action = 'patient.deliver'`,
      )
    ).map((row) => row.correlation_id),
  );
  const attempts = await rows<{ nonce: string; outcome: string }>(
    'select nonce, outcome from exchange_attempt',
  );
  assert.deepEqual(
    attempts.filter(({ nonce }) => !logged.has(nonce)),
    [],
    'every attempt was logged as an access',
  );
  const unlogged = exchange.arrivals.filter(
    ({ headers }) => !logged.has(String(headers['x-correlation-id'])),
  );
  assert.equal(unlogged.length, 0, 'nothing reached the exchange that is not in the access log');
  const tried = new Set(attempts.map(({ nonce }) => nonce));
  const lost = [...logged].filter((nonce) => !tried.has(nonce)).length;
  // A killed worker had logged at most what it was sending and what was next: seven times its limit in flight.
  assert.ok(lost <= KILLS * 7 * 16, `${lost} accesses without an attempt`);
  return lost;
}
