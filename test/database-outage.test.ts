/** What callers, load balancers and the log are told while the database cannot do its work, and while it can. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { createFhirServer } from '../src/publish/servers/manage-fhir-servers.ts';
import { insertTokenSession } from '../src/sign-in/sessions/refresh-token.store.ts';
import { newRefreshToken } from '../src/sign-in/sessions/refresh-token.ts';
import { needsPlainPostgres } from '../test-support/database/plain-postgres.ts';
import { requestBytes } from '../test-support/http/raw-http.ts';
import { addressOf, type RegisteredRoute, sampleRequest } from '../test-support/http/route-requests.ts';
import { type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import {
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
  type TestNode,
} from '../test-support/service/api.ts';
import { waitForLock, waitUntil } from '../test-support/wait-until.ts';

/** Writes are refused by triggers. */
const NO_TRIGGERS = needsPlainPostgres('Citus takes no triggers on distributed tables');

let api: TestApi;
let tenant: Tenant;
let account: TestAccount;
let seeds: SeededRecords;
let owner: pg.Client;
before(async () => {
  api = await startTestApi();
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
  const { pool } = api.database;
  seeds = await seedRecords(pool, tenant);
  await createFhirServer(
    { db: pool, keys: api.keys },
    {
      organisationId: tenant.organisationId,
      settings: { name: 'server', base: 'http://127.0.0.1:9/fhir', auth: 'none', allowLocalCodes: true },
      secret: undefined,
      makeDefault: true,
    },
  );
  owner = new pg.Client({ connectionString: api.database.adminUrl });
  await owner.connect();
});
after(async () => {
  await owner.end();
  await api.close();
});

describe('while the database refuses to write', NO_TRIGGERS, () => {
  afterEach(() => onEveryTable((table) => `drop trigger if exists refuse on ${table}`));

  for (const [state, reason] of [
    ['53100', 'disk full'],
    ['53200', 'out of memory'],
    ['53400', 'a limit of its configuration'],
    ['58030', 'a failing disk'],
    ['25006', 'a standby'],
  ] as const)
    test(`answers 503 on every route that would write (${state}, ${reason}) [HTTP-23]`, async () => {
      const refreshToken = await createRefreshToken();
      await refuseWrites(state);
      const failures: string[] = [];
      const busy = new Set<string>();
      for (const entry of api.api.routes) {
        const { status, text, headers } = await callOn(entry, refreshToken);
        if (status === 503) busy.add(entry.route.docs.operationId);
        if (status === 500) failures.push(`${entry.method} ${entry.path}: ${text}`);
        if (status === 503 && !(Number(headers.get('retry-after')) > 0))
          failures.push(`${entry.path}: when?`);
      }
      assert.deepEqual(failures, []);
      const writing = [
        'login',
        'refresh',
        'logout',
        'putTerminologyMap',
        'importTerminologyMaps',
        'importRecords',
      ];
      const missing = [...writing, 'publishLabOrder', 'setPatientPrivacy', 'readEncounter'].filter(
        (id) => !busy.has(id),
      );
      assert.deepEqual(missing, []);
    });

  test('says that it is not ready until a write succeeds again', async () => {
    assert.equal((await api.call(`${api.origin}/readyz`)).status, 200);
    await refuseWrites('53100');
    await callOn(routeOf('putTerminologyMap'), '');
    const refused = await api.call(`${api.origin}/readyz`);
    assert.equal(refused.status, 503);
    assert.match(refused.json.message, /^Not ready: the database is read-only/);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await api.call(`${api.origin}/readyz`)).status, 503, 'as long as it lasts');
    assert.equal((await api.call(`${api.origin}/healthz`)).status, 200);
    await onEveryTable((table) => `drop trigger if exists refuse on ${table}`);
    assert.equal((await api.call(`${api.origin}/readyz`)).status, 200);
  });

  test('notices what is refused to the access log alone', async () => {
    await refuseWrites('53100', (table) => table.startsWith('access_log') || table === 'write_probe');
    assert.equal((await callOn(routeOf('readEncounter'), '')).status, 503);
    assert.equal((await api.call(`${api.origin}/readyz`)).status, 503);
  });
});

describe('a caller who hangs up', () => {
  const uploads: [string, boolean][] = [
    ['/api/v1/auth/login', false],
    ['/api/v1/auth/verify', false],
    ['/api/v1/exchange/connections/00000000-0000-4000-8000-000000000000/callback', false],
    ['/api/v1/imports/fhir', true],
    ['/api/v1/terminology/maps/import', true],
  ];

  test('is not taken for a fault of the database, nor for one of the service', async () => {
    const node = await api.addNode();
    for (const [path, signedIn] of uploads)
      for (const start of [Buffer.from('{"a'), Buffer.from([0x1f, 0x8b, 8, 0])]) {
        const earlier = failuresIn(node);
        const socket = connect(Number(new URL(node.origin).port), '127.0.0.1');
        const headers = {
          expect: '100-continue',
          'content-type': 'application/json',
          'content-length': '1000',
          ...(signedIn ? { authorization: `Bearer ${account.token}` } : {}),
        };
        socket.write(requestBytes({ method: 'POST', target: path, headers }));
        await once(socket, 'data');
        socket.write(start);
        socket.resetAndDestroy();
        await waitUntil(() => failuresIn(node) > earlier, `${path} was noticed`);
      }
    const logged = node.logs();
    assert.doesNotMatch(logged, /"code":"database|not available|unexpected error|"level":50/);
    await node.close();
  });

  test('is not taken for one either when all of the request had come, and nobody had read it yet', async () => {
    const node = await api.addNode();
    await owner.query('begin');
    try {
      await owner.query('lock table account in access exclusive mode');
      const socket = connect(Number(new URL(node.origin).port), '127.0.0.1');
      const headers = { 'content-type': 'application/fhir+json', authorization: `Bearer ${account.token}` };
      const body = Buffer.from('{"resourceType":"Bundle","type":"collection"}');
      socket.write(requestBytes({ method: 'POST', target: '/api/v1/imports/fhir', headers, body }));
      await waitForLock(api.database.pool);
      socket.resetAndDestroy();
      // What the node answers now, it answers after it learned of that.
      await api.call(`${node.origin}/healthz`);
    } finally {
      await owner.query('rollback');
    }
    await waitUntil(() => failuresIn(node) > 0, 'the end of the call is noticed');
    assert.doesNotMatch(node.logs(), /"code":"database|not available|unexpected error|"level":50/);
    await node.close();
  });
});

/** Calls that failed, whatever they were taken for. */
function failuresIn(node: TestNode): number {
  return node.logs().match(/hung up|not available|unexpected error/g)?.length ?? 0;
}

function routeOf(operationId: string): RegisteredRoute {
  const found = api.api.routes.find(({ route }) => route.docs.operationId === operationId);
  assert.ok(found, operationId);
  return found;
}

function callOn(entry: RegisteredRoute, refreshToken: string) {
  const sample = sampleRequest(entry, seeds);
  const isRefresh = entry.route.docs.operationId === 'refresh';
  const body = isRefresh ? JSON.stringify({ refreshToken }) : sample.body;
  return api.call(api.origin + addressOf(sample), {
    method: sample.method,
    headers: sample.headers,
    token: account.token,
    ...(body === undefined ? {} : { body }),
  });
}

async function createRefreshToken(): Promise<string> {
  const id = crypto.randomUUID();
  const token = newRefreshToken(tenant.organisationId, id);
  const expiresAt = new Date(api.clock.now.getTime() + 3_600_000);
  await insertTokenSession(api.database.pool, tenant, {
    session: { id, accountId: account.userId, createdAt: api.clock.now, expiresAt },
    token: { hash: token.hash, expiresAt },
  });
  return token.text;
}

/** Every row that is written is refused with this SQLSTATE, on all connections at once. */
async function refuseWrites(state: string, isMeant: (table: string) => boolean = () => true): Promise<void> {
  await owner.query(`
    create or replace function refuse_write() returns trigger language plpgsql as $$
    begin
      raise exception 'refused by the test' using errcode = '${state}';
    end $$`);
  await onEveryTable((table) =>
    isMeant(table)
      ? `create trigger refuse before insert or update or delete on ${table} for each statement execute function refuse_write()`
      : 'select 1',
  );
}

async function onEveryTable(statement: (table: string) => string): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  await owner.query(rows.map(({ name }) => statement(name)).join(';\n'));
}
