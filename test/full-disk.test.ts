/**
 * The disk of the database is full: first its tables cannot grow, then its WAL, which ends the server. The service goes
 * on by itself when there is room again, and what it answered is true.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { ask } from '../test-support/database/embedded.ts';
import { openSmallDisk, type SmallDisk, whyNoSmallDisk } from '../test-support/database/small-disk.ts';
import { sampleBundle } from '../test-support/records/sample-bundle.ts';
import { runJson, type StartedCommand, startCommand } from '../test-support/service/command.ts';
import { waitUntil } from '../test-support/wait-until.ts';

interface Call {
  path: string;
  status: number;
  retryAfter: number;
  text: string;
}

describe('a full disk', { skip: whyNoSmallDisk() ?? false, timeout: 300_000 }, () => {
  let disk: SmallDisk;
  let service: StartedCommand;
  let env: Record<string, string>;
  let origin: string;
  let account: { userId: string; password: string };
  let token: string;
  let encounterId: string;
  const calls: Call[] = [];
  /** Bundles by the identifier of their patient, and whether they were answered 200. */
  const bundles = new Map<string, { body: string; isStored: boolean }>();

  before(async () => {
    disk = await openSmallDisk();
    env = { DATABASE_URL: disk.url, MASTER_KEY: randomBytes(32).toString('hex'), PORT: '0' };
    await setUp();
    service = startCommand(['serve', '--role', 'api'], { env });
    const [line] = await service.printed(/.*"event":"listening".*/);
    origin = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
    const login = await signIn();
    token = (JSON.parse(login.text) as { accessToken: string }).accessToken;
    await write();
    const { id } = await ask(disk.url, 'select id from encounter');
    encounterId = String(id);
  });
  after(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    await disk.close();
  });

  const command = (...args: string[]) => runJson(args, { env });

  async function setUp(): Promise<void> {
    await command('migrate');
    const { id: organisation = '' } = await command('organisation', 'create', '--name', 'Full');
    const inOrganisation = ['--organisation', organisation];
    const { id: facility = '' } = await command('facility', 'create', ...inOrganisation, '--name', 'Clinic');
    const permissions = Object.keys(PERMISSIONS).join();
    await command('role', 'create', ...inOrganisation, '--name', 'all', '--permissions', permissions);
    const who = ['--facility', facility, '--email', 'system@example.org', '--role', 'all'];
    account = (await command('account', 'create', ...inOrganisation, ...who)) as never;
    const to = ['--name', 'Exchange', '--address', 'http://127.0.0.1:9/', '--client-id', 'full'];
    await command('connection', 'create', ...inOrganisation, ...to);
  }

  async function call(path: string, body?: string): Promise<Call> {
    const answer = await fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const retryAfter = Number(answer.headers.get('retry-after'));
    const made = { path, status: answer.status, retryAfter, text };
    calls.push(made);
    return made;
  }

  const signIn = () =>
    call(
      '/api/v1/auth/login',
      JSON.stringify({ identity: account.userId, credential: account.password, userType: 'EHR' }),
    );
  const read = () => call(`/api/v1/encounters/fhir/Encounter/${encounterId}?purposeOfUse=TREATMENT`);

  /** Import a Bundle of a new patient, or one that was sent before. */
  async function write(identifier = `S-${bundles.size}`): Promise<Call> {
    const person = {
      identifier,
      family: 'Sample',
      given: 'Sam',
      phone: '1',
      email: 'a@example.org',
      birthDate: '1970',
    };
    const body = bundles.get(identifier)?.body ?? JSON.stringify(sampleBundle(person));
    const made = await call('/api/v1/imports/fhir', body);
    const isStored = bundles.get(identifier)?.isStored === true || made.status === 200;
    bundles.set(identifier, { body, isStored });
    return made;
  }

  const readiness = async () => (await call('/readyz')).status;

  /** Writes and reads until each of them was refused. */
  async function untilAllAreRefused(): Promise<void> {
    const isRefused = ({ status }: Call) => status === 503;
    await waitUntil(async () => isRefused(await write()), 'writes are refused');
    await waitUntil(async () => isRefused(await read()), 'reads are refused, because they cannot be logged');
    await signIn();
  }

  async function checkThatAllGoesOn(): Promise<void> {
    await waitUntil(async () => (await readiness()) === 200, 'it is ready');
    for (const step of [read, signIn, write]) {
      const { status, text } = await step();
      assert.equal(status, 200, text);
    }
    const others = calls.filter(
      ({ status, retryAfter }) => status !== 200 && !(status === 503 && retryAfter > 0),
    );
    assert.deepEqual(others, [], 'every answer is a success, or 503 with retry-after');
    await checkBundles((isStored) => isStored);
    for (const identifier of bundles.keys()) assert.equal((await write(identifier)).status, 200);
    await checkBundles(() => true);
    assert.equal((await command('access-log', 'verify')).ok as unknown, true);
  }

  /** Each Bundle is there whole, with its delivery, or not at all; those that must be there are. */
  async function checkBundles(mustBeThere: (isStored: boolean) => boolean): Promise<void> {
    const client = new pg.Client({ connectionString: disk.url });
    await client.connect();
    const { rows } = await client.query<{ identifier: string; parts: string }>(`
      select i.value as identifier,
        concat_ws(' ',
          (select count(*) from encounter e where e.patient_id = i.patient_id),
          (select count(*) from investigation_order o where o.patient_id = i.patient_id),
          (select count(*) from observation o where o.patient_id = i.patient_id),
          (select count(*) from investigation_report r where r.patient_id = i.patient_id),
          (select count(*) from exchange_delivery d where d.patient_id = i.patient_id)) as parts
      from patient_identifier i`);
    await client.end();
    const found = new Map(rows.map(({ identifier, parts }) => [identifier, parts]));
    assert.equal(found.size, rows.length, 'each patient is there once');
    const whole = found.get('S-0');
    for (const [identifier, { isStored }] of bundles)
      if (mustBeThere(isStored) || found.has(identifier))
        assert.equal(found.get(identifier), whole, identifier);
  }

  test('answers 503 to what writes, stores nothing by halves, and goes on when there is room [OPS-33]', async () => {
    await disk.fill();
    await untilAllAreRefused();
    assert.ok(calls.some(({ text }) => text.includes('out of disk space')));
    assert.equal(await readiness(), 503);
    assert.equal((await call('/healthz')).status, 200);
    await disk.free();
    await checkThatAllGoesOn();
  });

  test('that ends PostgreSQL, because its WAL has no room, ends no process of the service [OPS-33]', async () => {
    await disk.fill();
    await waitUntil(async () => {
      await write();
      return ask(disk.url, 'select pg_switch_wal()').then(
        () => false,
        () => true,
      );
    }, 'PostgreSQL ends');
    await untilAllAreRefused();
    assert.equal(await readiness(), 503);
    assert.equal((await call('/healthz')).status, 200);
    await disk.free();
    await checkThatAllGoesOn();
  });
});
