/** One clinic, made by commands and served by a real process: every use of a key, from outside. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PERMISSIONS } from '../../src/tenancy/roles/permissions.ts';
import { startExchange, type TestExchange } from '../exchange/exchange-server.ts';
import { runCommand, type StartedCommand, startCommand } from './command.ts';
import { freePort } from './free-port.ts';

const PATIENT = '5d3c8a52-6f0e-4a55-8f5c-1f1f6a1f2b3c';
const EMAIL = 'system@example.org';
const UNKNOWN_EMAIL = 'nobody@example.org';

interface Tokens {
  accessToken: string;
  refreshToken: string;
}

export interface Clinic {
  /** The environment of commands, and of the next start. */
  env: Record<string, string>;
  /** `--organisation ID --facility ID`. */
  place: string[];
  connectionId: string;
  patientId: string;
  exchange: TestExchange;
  start(): Promise<void>;
  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<void>;
  /** Like `stop`, with SIGKILL. */
  kill(): Promise<void>;
  readonly running: boolean;
  /** Of the process that runs, or that ran last. */
  logs(): string;
  baseUrl(): string;
  get(path: string): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
  /** The id that `/auth/verify` gives an address without an account. */
  decoy(): Promise<string>;
  login(): Promise<Tokens>;
  /** Sign-in, a refresh twice in its window, a traced read, a signed delivery and its signed callback. */
  useEverything(): Promise<void>;
  /** Run a command, which must succeed; what it printed. */
  command(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

/** Runs a command, which must succeed; what it printed. */
type Command = (...args: string[]) => Promise<string>;

/** What the commands made that the clinic signs in and delivers with. */
interface Made {
  place: string[];
  account: { userId: string; password: string };
  connection: { id: string; outboundSecret: string; callbackSecret: string };
}

/** Make the clinic on the database of `env`; nothing serves yet. */
export async function openClinic(env: Record<string, string>): Promise<Clinic> {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-clinic-'));
  const exchange = await startExchange();
  const clinic = { env } as Clinic;
  const command: Command = async (...args) => {
    const { code, stdout, stderr } = await runCommand(args, { env: clinic.env });
    assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const { place, account, connection } = await makeClinic(command, env, exchange.url);
  exchange.trust = { clientId: 'clinic', secrets: [connection.outboundSecret] };
  const serving = createServing(await freePort(), () => clinic.env);
  const { call, post } = serving;
  const known = { version: 0, decoy: undefined as string | undefined };

  async function login(): Promise<Tokens> {
    const answer = await post('/auth/login', {
      identity: account.userId,
      credential: account.password,
      userType: 'EHR',
    });
    return (await json(answer)) as unknown as Tokens;
  }

  async function changePatient(): Promise<void> {
    known.version += 1;
    const file = join(folder, 'patient.ndjson');
    const name = [{ family: `Version ${known.version}` }];
    await writeFile(file, `${JSON.stringify({ resourceType: 'Patient', id: PATIENT, name })}\n`);
    await command('import', ...place, file);
  }

  async function confirmDelivery(): Promise<void> {
    const arrived = exchange.arrivals.length;
    await changePatient();
    await exchange.waitFor(arrived + 1);
    const { verdict, envelope } = exchange.arrivals.at(-1) ?? assert.fail('nothing came');
    assert.equal(verdict, 'valid');
    const body = JSON.stringify({ deliveryId: envelope.deliveryId, status: 'accepted', assignedId: 'A-1' });
    const signature = createHmac('sha256', connection.callbackSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const answer = await call(`/exchange/connections/${connection.id}/callback`, {
      method: 'POST',
      headers,
      body,
    });
    assert.equal(answer.status, 200, await answer.text());
  }

  Object.assign(clinic, {
    place,
    connectionId: connection.id,
    patientId: '',
    exchange,
    command,
    post,
    login,
    start: serving.start,
    stop: () => serving.end('SIGTERM'),
    kill: () => serving.end('SIGKILL'),
    baseUrl: serving.baseUrl,
    logs: serving.logs,
    get: async (path: string) =>
      call(path, { headers: { authorization: `Bearer ${(await login()).accessToken}` } }),
    decoy: async () =>
      (await json(await post('/auth/verify', { email: UNKNOWN_EMAIL, userType: 'EHR' }))).userId ?? '',
    async useEverything() {
      known.decoy ??= await clinic.decoy();
      assert.equal(await clinic.decoy(), known.decoy);
      const { refreshToken } = await login();
      const pair = await json(await post('/auth/refresh', { refreshToken }));
      assert.deepEqual(await json(await post('/auth/refresh', { refreshToken })), pair);
      await confirmDelivery();
      const headers = { authorization: `Bearer ${pair.accessToken}` };
      const found = await json(await call('/patients/base?search=Version', { headers }));
      const [patient] = found.items as unknown as { id: string }[];
      clinic.patientId = patient?.id ?? assert.fail('the patient is not found');
    },
    async close() {
      await serving.end('SIGKILL');
      await exchange.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
  Object.defineProperty(clinic, 'running', { get: () => serving.running });
  return clinic;
}

/** An organisation with a facility, an account that may do everything, a connection and a target. */
async function makeClinic(command: Command, env: Record<string, string>, exchangeUrl: string): Promise<Made> {
  const make = async (...args: string[]) => JSON.parse(await command(...args, '--json'));
  await command('migrate');
  const { id: organisation } = await make('organisation', 'create', '--name', 'Clinic');
  const ofOrganisation = ['--organisation', organisation as string];
  const { id: facility } = await make('facility', 'create', ...ofOrganisation, '--name', 'Ward');
  const place = [...ofOrganisation, '--facility', facility as string];
  const permissions = ['--permissions', Object.keys(PERMISSIONS).join()];
  await make('role', 'create', ...ofOrganisation, '--name', 'all', ...permissions);
  const account = await make('account', 'create', ...place, '--email', EMAIL, '--role', 'all');
  const outbound = ['--name', 'Exchange', '--address', exchangeUrl, '--client-id', 'clinic'];
  const connection = await make('connection', 'create', ...ofOrganisation, ...outbound);
  const target = ['--name', 'server', '--base', 'http://127.0.0.1:1/fhir', '--auth', 'bearer'];
  await runCommand(['target', 'create', ...target, '--secret-stdin'], { env, stdin: 'token-of-the-target' });
  return { place, account, connection };
}

/** The process that serves the clinic; one at a time, each on the same port. */
function createServing(port: number, environment: () => Record<string, string>) {
  const state = { service: undefined as StartedCommand | undefined, logged: '' };
  const baseUrl = () => `http://127.0.0.1:${port}/api/v1`;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${baseUrl()}${path}`, { ...init, headers: { connection: 'close', ...init.headers } });
  return {
    baseUrl,
    call,
    post: (path: string, body: unknown) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async start() {
      const env = { ...environment(), PORT: String(port), DELIVERY_POLL_MS: '20' };
      state.service = startCommand(['serve'], { env });
      await state.service.printed(/"event":"listening"/);
    },
    async end(signal: 'SIGTERM' | 'SIGKILL') {
      const ending = state.service;
      state.service = undefined;
      ending?.child.kill(signal);
      await ending?.ended;
      state.logged = ending?.output().stdout ?? state.logged;
    },
    logs: () => state.service?.output().stdout ?? state.logged,
    get running() {
      return state.service !== undefined && state.service.child.exitCode === null;
    },
  };
}

async function json(answer: Response): Promise<Record<string, string>> {
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}
