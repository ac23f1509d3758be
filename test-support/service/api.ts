/** A started API on a database of its own, with organisations, facilities and accounts to call it as. */
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { after } from 'node:test';
import { type Api, buildApi } from '../../src/app/build-api.ts';
import { type Config, loadConfig } from '../../src/app/config/config.ts';
import { openServiceKeys } from '../../src/app/master-key/service-keys.ts';
import { buildRuntime, type Runtime } from '../../src/app/runtime/build-runtime.ts';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createMasterKey, type MasterKeySource } from '../../src/platform/crypto/master-key.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { createSigningKeys } from '../../src/sign-in/keys/signing-keys.ts';
import { issueAccessToken } from '../../src/sign-in/sessions/access-token.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import { PERMISSIONS } from '../../src/tenancy/roles/permissions.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { sendRequest } from '../http/send-request.ts';
import { insertAccount } from '../sign-in/insert-account.ts';
import { freePort } from './free-port.ts';

/** The answer of a call: status, headers, text, and the JSON of it (undefined when it is none). */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

/** JSON as tests read it: every property of every value may be there or not. */
export type Json = ReturnType<typeof JSON.parse>;

export interface CallOptions {
  method?: string;
  token?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text or bytes already. */
  body?: unknown;
}

export interface Tenant {
  organisationId: string;
  facilityId: string;
}

export interface TestAccount extends Tenant {
  userId: string;
  email: string;
  sessionId: string;
  /** Good for 15 minutes of the test's clock. */
  token: string;
}

export interface TestNode {
  api: Api;
  runtime: Runtime;
  /** `http://127.0.0.1:PORT/api/v1`, real HTTP. */
  baseUrl: string;
  origin: string;
  /** Everything that the node logged so far. */
  logs(): string;
  call(path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface TestApi extends TestNode {
  /** Has a process of the command line work on the same database, with the same keys. */
  env: Record<string, string>;
  database: TestDatabase;
  keys: KeyRing;
  /** The clock of the database and of every node; set it to move time. */
  clock: { now: Date };
  /** Another process's worth of the service on the same database; its own clock may be ahead, or behind. */
  addNode(options?: { aheadSeconds?: number }): Promise<TestNode>;
  createTenant(options?: { timeZone?: string; modules?: string[] }): Promise<Tenant>;
  createFacility(
    organisationId: string,
    options?: { timeZone?: string; modules?: string[] },
  ): Promise<string>;
  /** An account with a session, signed in already. Default: every permission, at the one facility. */
  createAccount(tenant: Tenant, options?: AccountOptions): Promise<TestAccount>;
}

export interface AccountOptions {
  permissions?: readonly string[];
  facilityIds?: readonly string[];
  userType?: 'EHR' | 'STAFF';
  mustChangePassword?: boolean;
}

export interface TestApiOptions {
  env?: Record<string, string>;
  now?: Date;
}

/** One that ends with the test file, with no organisation yet. */
export async function useEmptyApi(options?: TestApiOptions): Promise<TestApi> {
  const api = await startTestApi(options);
  after(() => api.close());
  return api;
}

/** Close it in `after`; closing removes the database. */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const masterKey = createMasterKey(randomBytes(32));
  const source = {
    name: 'MASTER_KEY',
    fixed: true,
    load: async () => masterKey,
    remedy: async () => 'Give that key.',
  };
  const clock = { now: options.now ?? new Date() };
  const env = { DATABASE_URL: database.url, MASTER_KEY: masterKey.bytes.toString('hex') };
  const config = loadConfig({ ...env, LOG_LEVEL: 'debug', PORT: '0', ...options.env });
  const shared = { config, source, clock, url: database.url };
  const first = await startNode(shared);
  const others = new Set<TestNode>();
  return {
    ...first,
    env,
    database,
    keys: first.runtime.keys,
    clock,
    async addNode({ aheadSeconds = 0 } = {}) {
      const node = await startNode({ ...shared, aheadSeconds });
      others.add(node);
      return {
        ...node,
        async close() {
          if (others.delete(node)) await node.close();
        },
      };
    },
    async createTenant(tenantOptions = {}) {
      const organisation = await createOrganisation(database.pool, { name: 'Test Organisation' });
      const facility = await createFacility(database.pool, {
        organisationId: organisation.id,
        name: 'Test Facility',
        ...tenantOptions,
      });
      return { organisationId: organisation.id, facilityId: facility.id };
    },
    async createFacility(organisationId, facilityOptions = {}) {
      return (
        await createFacility(database.pool, { organisationId, name: 'Other Facility', ...facilityOptions })
      ).id;
    },
    createAccount: (tenant, accountOptions) =>
      createAccount({ database, keys: first.runtime.keys, now: clock.now }, tenant, accountOptions ?? {}),
    async close() {
      for (const node of others) await node.close();
      await first.close();
      await database.drop();
    },
  };
}

interface NodeOptions {
  config: Config;
  source: MasterKeySource;
  /** The clock of the database. */
  clock: { now: Date };
  url: string;
  /** By which the clock of the node is ahead of it. */
  aheadSeconds?: number;
}

async function startNode({ config, source, clock, url, aheadSeconds = 0 }: NodeOptions): Promise<TestNode> {
  const logged: string[] = [];
  const sink = new PassThrough();
  sink.on('data', (chunk: Buffer) => logged.push(chunk.toString()));
  const runtime = await buildRuntime({
    config,
    keys: await openServiceKeys(url, source),
    url,
    log: createLog('debug', sink),
    now: () => new Date(clock.now.getTime() + aheadSeconds * 1_000),
    databaseTime: () => clock.now,
  });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = `${origin}/api/v1`;
  const api = await buildApi(runtime, { publicBaseUrl: config.publicBaseUrl ?? baseUrl });
  await api.server.listen({ host: '127.0.0.1', port });
  return {
    api,
    runtime,
    baseUrl,
    origin,
    logs: () => logged.join(''),
    call: (path, options) => call(path.startsWith('http') ? path : baseUrl + path, options ?? {}),
    async close() {
      await api.server.close();
      await runtime.close();
    },
  };
}

async function call(url: string, { method, token, headers = {}, body }: CallOptions): Promise<Answer> {
  const isPlain = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
  const answer = await sendRequest({
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(isPlain ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isPlain ? body : JSON.stringify(body),
  });
  return { ...answer, json: parsed(answer.text) as Json };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface AccountDependencies {
  database: TestDatabase;
  keys: KeyRing;
  now: Date;
}

async function createAccount(
  { database, keys, now }: AccountDependencies,
  tenant: Tenant,
  options: AccountOptions,
): Promise<TestAccount> {
  const db = database.pool;
  const permissions = options.permissions ?? Object.keys(PERMISSIONS);
  const account = await insertAccount(db, tenant, { ...options, permissions, now });
  const { userId, email, sessionId, expiresAt } = account;
  const signingKeys = createSigningKeys({ db, keys, accessTokenSeconds: 900 });
  const token = await issueAccessToken(await signingKeys.signer(), {
    accountId: userId,
    sessionId,
    now,
    ttlSeconds: 900,
    sessionExpiresAt: expiresAt,
  });
  return { ...tenant, userId, email, sessionId, token };
}
