/**
 * A standby takes over while every flow is under load: the primary is killed, the standby promoted. A ledger of all
 * answers says what must be there afterwards.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { type Replication, startReplication } from '../test-support/database/standby.ts';
import { startExchange, type TestExchange } from '../test-support/exchange/exchange-server.ts';
import { startFhirServer, type TestFhirServer } from '../test-support/fhir-server/start.ts';
import { sampleBundle } from '../test-support/records/sample-bundle.ts';
import { runJson, type StartedCommand, startCommand } from '../test-support/service/command.ts';
import { waitUntil } from '../test-support/wait-until.ts';

/** Of each flow, before the primary is killed and after the standby took over. */
const ROUNDS = 5;
/** A call that takes longer hangs: a statement at its limit, or a publish that waits for a lease. */
const LONGEST_MS = 60_000;
const PATIENT_SYSTEM = 'https://example.org/failover';

interface Call {
  flow: string;
  status: number;
  retryAfter: number;
  text: string;
  correlationId: string;
}

let replication: Replication;
let exchange: TestExchange;
let fhirServer: TestFhirServer;
let service: StartedCommand;
let env: Record<string, string>;
let baseUrl: string;
let account: { userId: string; password: string };
const calls: Call[] = [];
let stopping = false;

before(async () => {
  [replication, exchange, fhirServer] = await Promise.all([
    startReplication(),
    startExchange(),
    startFhirServer(),
  ]);
  env = {
    DATABASE_URL: `${replication.url}?target_session_attrs=read-write`,
    MASTER_KEY: randomBytes(32).toString('hex'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    DELIVERY_RETRY_SECONDS: '0.2,0.4,0.8,1,1,2,2,3',
    DELIVERY_LEASE_SECONDS: '3',
    DELIVERY_POLL_MS: '50',
  };
  await setUp();
  service = startCommand(['serve'], { env: { ...env, LOG_LEVEL: 'info' } });
  const [line] = await service.printed(/.*"event":"listening".*/);
  baseUrl = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/api/v1`;
});
after(async () => {
  service?.child.kill('SIGKILL');
  await service?.ended;
  await exchange.close();
  await fhirServer.stop();
  await replication.close();
});

const command = (...args: string[]) => runJson(args, { env });

async function setUp(): Promise<void> {
  const { id: organisation = '' } = await command('organisation', 'create', '--name', 'Failover');
  const inOrganisation = ['--organisation', organisation];
  const { id: facility = '' } = await command('facility', 'create', ...inOrganisation, '--name', 'Clinic');
  const permissions = Object.keys(PERMISSIONS).join();
  await command('role', 'create', ...inOrganisation, '--name', 'all', '--permissions', permissions);
  const who = ['--facility', facility, '--email', 'system@example.org', '--role', 'all'];
  account = (await command('account', 'create', ...inOrganisation, ...who)) as never;
  const to = ['--name', 'Exchange', '--address', exchange.url, '--client-id', 'failover'];
  const connection = await command('connection', 'create', ...inOrganisation, ...to);
  exchange.trust = { clientId: 'failover', secrets: [connection.outboundSecret ?? ''] };
  await command(
    'target',
    'create',
    '--name',
    'server',
    '--base',
    fhirServer.base,
    '--auth',
    'none',
    '--references',
    'send',
    '--timeout-ms',
    '1000',
    '--allow-local-codes',
    '--default',
  );
}

interface CallOptions {
  token?: string;
  body?: unknown;
  contentType?: string;
}

async function call(flow: string, path: string, options: CallOptions = {}): Promise<Call> {
  const { token, body, contentType = 'application/json' } = options;
  const correlationId = randomUUID();
  const answer = await fetch(baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-correlation-id': correlationId,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
  const text = await answer.text();
  const retryAfter = Number(answer.headers.get('retry-after'));
  const made = { flow, status: answer.status, retryAfter, text, correlationId };
  calls.push(made);
  return made;
}

/** The same call until it is done: what became of one that was answered 503 is not known. */
function insist(flow: string, path: string, options: CallOptions = {}): Promise<Call> {
  return waitUntil(async () => {
    const made = await call(flow, path, options);
    return made.status === 503 ? undefined : made;
  }, `${flow} is done`);
}

const json = ({ text }: Call) => JSON.parse(text) as Record<string, string>;

/** What was answered, and must be there for good. */
const ledger = {
  /** Correlation ids. */
  reads: [] as string[],
  publishes: [] as string[],
  /** Tokens that the chain of refreshes went through. */
  refreshTokens: [] as string[],
  /** Access tokens of sessions that are open, and of those that were ended. */
  open: [] as string[],
  ended: [] as string[],
  /** Rounds by patient. */
  changes: new Map<string, number>(),
};
let ids: { encounter: string; order: string };

async function login(flow: string): Promise<Record<string, string>> {
  const body = { identity: account.userId, credential: account.password, userType: 'EHR' };
  return json(await insist(flow, '/auth/login', { body }));
}

/** Each flow runs on and on, one step after the other. */
function startFlows(token: string): Promise<unknown> {
  const read = async () => {
    const path = `/encounters/fhir/Encounter/${ids.encounter}?purposeOfUse=TREATMENT`;
    ledger.reads.push((await insist('read', path, { token })).correlationId);
  };
  const refresh = async () => {
    const body = { refreshToken: ledger.refreshTokens.at(-1) };
    ledger.refreshTokens.push(json(await insist('refresh', '/auth/refresh', { body })).refreshToken ?? '');
  };
  const signInAndOut = async () => {
    ledger.open.push((await login('login')).accessToken ?? '');
    const { accessToken = '' } = await login('login');
    const { status } = await call('logout', '/auth/logout', { token: accessToken, body: {} });
    if (status === 204) ledger.ended.push(accessToken);
  };
  const change = async () => {
    for (const patient of ['P1', 'P2']) {
      const round = (ledger.changes.get(patient) ?? 0) + 1;
      const body = patientLine(patient, round);
      await insist('import', '/imports/fhir', { token, body, contentType: 'application/fhir+ndjson' });
      ledger.changes.set(patient, round);
    }
  };
  const repeat = async (step: () => Promise<void>) => {
    while (!stopping) await step();
  };
  return Promise.all([read, read, refresh, signInAndOut, () => publish(token), change].map(repeat));
}

/** One that the failure broke off keeps the next one waiting until its lease ends. */
async function publish(token: string): Promise<void> {
  const path = `/investigations/lab/orders/${ids.order}/clinical/publish-fhir`;
  ledger.publishes.push((await insist('publish', path, { token, body: {} })).correlationId);
}

function patientLine(patient: string, round: number): string {
  return JSON.stringify({
    resourceType: 'Patient',
    identifier: [{ system: PATIENT_SYSTEM, value: patient }],
    name: [{ family: patient, given: [`Round ${round}`] }],
  });
}

/** Until each of these flows was answered so several times after a certain call. */
function untilAnswered(
  flows: readonly string[],
  { after, times, wanted }: { after: number; times: number; wanted: (call: Call) => boolean },
): Promise<unknown> {
  const isAnswered = (flow: string) =>
    calls.slice(after).filter((made) => made.flow === flow && wanted(made)).length >= times;
  return waitUntil(() => flows.every(isAnswered), `${flows} are answered`);
}

const isDone = ({ status }: Call) => status >= 200 && status < 300;

test('loses nothing that was answered, and callers see 503 with retry-after for a while [OPS-32]', {
  timeout: 240_000,
  skip: process.platform !== 'linux' && 'the processes of a server are found in /proc',
}, async () => {
  const { accessToken: token = '', refreshToken = '' } = await login('set-up');
  ledger.refreshTokens.push(refreshToken);
  const bundle = JSON.stringify(sampleBundle());
  await insist('set-up', '/imports/fhir', { token, body: bundle, contentType: 'application/fhir+json' });
  const [found] = await rows<{ encounter: string; order: string }>(
    `select e.id as encounter, o.id as order from encounter e, investigation_order o where o.discipline = 'laboratory'`,
  );
  ids = found ?? assert.fail('the records are there');
  const flows = startFlows(token);
  const flowing = ['read', 'refresh', 'login', 'import'];
  const done = { times: ROUNDS, wanted: isDone };
  await untilAnswered([...flowing, 'logout', 'publish'], { ...done, after: 0 });
  await replication.killPrimary();
  const refused = { times: 1, wanted: ({ status }: Call) => status === 503 };
  await untilAnswered([...flowing, 'publish'], { ...refused, after: calls.length });
  await replication.promote();
  await untilAnswered([...flowing, 'logout'], { ...done, after: calls.length });
  stopping = true;
  await flows;
  await publish(token);

  const others = calls.filter((made) => !isDone(made) && !(made.status === 503 && made.retryAfter > 0));
  assert.deepEqual(others, [], 'every answer is a success, or 503 with retry-after');
  await checkSessions();
  await checkDeliveries();
  await checkAccess();
});

async function checkSessions(): Promise<void> {
  const last = ledger.refreshTokens.at(-1);
  assert.equal(new Set(ledger.refreshTokens).size, ledger.refreshTokens.length);
  const { accessToken = '' } = json(await insist('check', '/auth/refresh', { body: { refreshToken: last } }));
  const claims = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString();
  const { sid } = JSON.parse(claims) as { sid: string };
  const [{ tokens } = { tokens: 0 }] = await rows<{ tokens: number }>(
    `select count(*)::int as tokens from refresh_token where session_id = '${sid}'`,
  );
  assert.equal(tokens, ledger.refreshTokens.length + 1, 'each token was exchanged once');
  const statusOf = async (token: string) =>
    (await call('check', '/patients/base?search=nobody', { token })).status;
  for (const token of ledger.open) assert.equal(await statusOf(token), 200);
  for (const token of ledger.ended) assert.equal(await statusOf(token), 401);
}

async function checkDeliveries(): Promise<void> {
  await waitUntil(
    async () => (await rows('select from exchange_head')).length === 0,
    'every delivery is done',
  );
  const firstArrivals = new Map<string, number[]>();
  const seen = new Map<string, string>();
  for (const { envelope, verdict } of exchange.arrivals) {
    assert.equal(verdict, 'valid');
    const { name } = envelope.resource as unknown as { name: [{ family: string; given: [string] }] };
    const [{ family: patient, given }] = name;
    if (!ledger.changes.has(patient)) continue;
    const content = `${patient} ${given}`;
    assert.equal(
      seen.get(content) ?? envelope.deliveryId,
      envelope.deliveryId,
      'one delivery for one change',
    );
    if (seen.has(content)) continue;
    seen.set(content, envelope.deliveryId);
    firstArrivals.set(patient, [
      ...(firstArrivals.get(patient) ?? []),
      Number(given[0].slice('Round '.length)),
    ]);
  }
  for (const [patient, rounds] of ledger.changes)
    assert.deepEqual(
      firstArrivals.get(patient),
      Array.from({ length: rounds }, (_, index) => index + 1),
      `every change of ${patient} arrived, in order`,
    );
}

async function checkAccess(): Promise<void> {
  const logged = new Set(
    (await rows<{ id: string }>('select correlation_id as id from access_log')).map(({ id }) => id),
  );
  assert.deepEqual(
    [...ledger.reads, ...ledger.publishes].filter((id) => !logged.has(id)),
    [],
  );
  const done = new Set(
    (await rows<{ id: string }>(`select correlation_id as id from publish_run where outcome = 'done'`)).map(
      ({ id }) => id,
    ),
  );
  assert.deepEqual(
    ledger.publishes.filter((id) => !done.has(id)),
    [],
  );
  const verified = await command('access-log', 'verify');
  assert.equal(verified.ok as unknown, true);
}

async function rows<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  for (const url of [replication.primaryUrl, replication.standbyUrl]) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(text)).rows;
    } catch (error) {
      if (url === replication.standbyUrl) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return [];
}
