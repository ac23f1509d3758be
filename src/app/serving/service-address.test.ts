/** Commands print the address that the service serves at, or say that they guess it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { runCommand, startCommand } from '../../../test-support/service/command.ts';
import { listenHere } from '../../../test-support/service/free-port.ts';
import { addTenant, type SignInTenant } from '../../../test-support/sign-in/sign-in.ts';

let database: TestDatabase;
let tenant: SignInTenant;
let env: Record<string, string>;
before(async () => {
  database = await createTestDatabase();
  tenant = await addTenant(database);
  env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('hex') };
});
after(() => database.drop());

async function run(args: readonly string[], more: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runCommand(args, { env: { ...env, ...more } });
  assert.equal(code, 0, stderr);
  return { stdout, stderr };
}

function invite(email: string): string[] {
  const { organisationId, facilityId, role } = tenant;
  const options = ['--organisation', organisationId, '--facility', facilityId, '--role', role];
  return ['account', 'create', ...options, '--email', email, '--setup-link'];
}

function connect(name: string): string[] {
  const options = ['--organisation', tenant.organisationId, '--name', name, '--client-id', 'clinic'];
  return ['connection', 'create', ...options, '--address', 'https://hie.example.org/patients'];
}

const originOf = (text: unknown) => new URL(String(text)).origin;

async function serveOnce(more: Record<string, string> = {}): Promise<number> {
  const service = startCommand(['serve', '--role', 'api'], { env: { ...env, PORT: '0', ...more } });
  try {
    const [line] = await service.printed(/.*"event":"listening".*/);
    return (JSON.parse(line) as { port: number }).port;
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

test('while no service ever ran, the address is called a guess', async () => {
  const { stdout, stderr } = await run(invite('first@example.org'));
  assert.match(stdout, /http:\/\/127\.0\.0\.1:3000\/console\/set-password#token=/);
  assert.match(stderr, /http:\/\/127\.0\.0\.1:3000 is a guess.*PUBLIC_BASE_URL/);
  assert.doesNotMatch(stderr, /token=/);

  const account = await run([...invite('second@example.org'), '--json']);
  assert.deepEqual(Object.keys(JSON.parse(account.stdout)).sort(), ['email', 'setupLink', 'userId']);
  assert.match(account.stderr, /is a guess/);
  const connection = await run([...connect('first'), '--json']);
  const members = ['callbackSecret', 'callbackUrl', 'id', 'outboundSecret'];
  assert.deepEqual(Object.keys(JSON.parse(connection.stdout)).sort(), members);
  assert.match(connection.stderr, /is a guess/);
  // What follows the guess is right: only its beginning is to be replaced.
  assert.match(JSON.parse(connection.stdout).callbackUrl, /^http:\/\/127\.0\.0\.1:3000\/api\/v1\/exchange\//);
  assert.match(connection.stderr, /put the address of the service in its place, and keep what follows/);
});

test('what carries no address says nothing of it', async () => {
  const args = invite('third@example.org').filter((option) => option !== '--setup-link');
  const { stdout, stderr } = await run([...args, '--json']);
  assert.equal(stderr, '');
  assert.deepEqual(Object.keys(JSON.parse(stdout)).sort(), ['email', 'password', 'userId']);
});

test('PUBLIC_BASE_URL of the command is no guess', async () => {
  const configured = { PUBLIC_BASE_URL: 'https://records.example.org/api/v1' };
  const { stdout, stderr } = await run([...connect('second'), '--json'], configured);
  assert.equal(stderr, '');
  const { callbackUrl } = JSON.parse(stdout);
  assert.equal(originOf(callbackUrl), 'https://records.example.org');
});

test('once a service ran, commands know its address, wherever they run', async () => {
  const port = await serveOnce();
  const { stdout, stderr } = await run([...invite('fourth@example.org'), '--json'], { PORT: '4711' });
  assert.equal(stderr, '');
  const { setupLink } = JSON.parse(stdout);
  assert.equal(originOf(setupLink), `http://127.0.0.1:${port}`);

  await serveOnce({ PUBLIC_BASE_URL: 'https://records.example.org/clinic/api/v1' });
  const { callbackUrl } = JSON.parse((await run([...connect('third'), '--json'])).stdout);
  assert.match(callbackUrl, /^https:\/\/records\.example\.org\/clinic\/api\/v1\/exchange\/connections\//);

  const other = { PUBLIC_BASE_URL: 'https://other.example.org/api/v1' };
  const { stdout: asked } = await run([...connect('fourth'), '--json'], other);
  assert.equal(originOf(JSON.parse(asked).callbackUrl), 'https://other.example.org', 'its own wins');
});

test('a service that cannot start leaves the address that commands know', async (t) => {
  const port = await serveOnce();
  const taken = createServer();
  t.after(() => taken.close());
  const METRICS_PORT = String(await listenHere(taken));
  const refused = await startCommand(['serve', '--role', 'api'], { env: { ...env, PORT: '0', METRICS_PORT } })
    .ended;
  assert.equal(refused.code, 1);
  const { callbackUrl } = JSON.parse((await run([...connect('fifth'), '--json'])).stdout);
  assert.equal(originOf(callbackUrl), `http://127.0.0.1:${port}`);
});

test('a service starts also while the database takes no writes, and says that it is not ready', async () => {
  const owner = new pg.Client({ connectionString: database.adminUrl });
  await owner.connect();
  await owner.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin raise 'no space left' using errcode = '53100'; end $$;
    create trigger refuse before insert on service_address execute function refuse();
    create trigger refuse before insert on write_probe execute function refuse()`);
  await owner.end();
  const service = startCommand(['serve', '--role', 'api'], { env: { ...env, PORT: '0' } });
  try {
    const [line] = await service.printed(/.*"event":"listening".*/);
    const { port } = JSON.parse(line) as { port: number };
    assert.match(service.output().stdout, /"event":"service-address"/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 503);
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
});
