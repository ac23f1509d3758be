/** The service behind PgBouncer in session mode: migrations, commands, sign-in, deliveries and changes that are heard of. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { type Clinic, openClinic } from '../test-support/service/clinic-process.ts';
import { runCommand } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { waitUntil } from '../test-support/wait-until.ts';

/** Debian puts it where only root looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;
/** PgBouncer refuses to be root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

function whyNot(): string | false {
  try {
    execFileSync('pgbouncer', ['--version'], { env: { PATH }, stdio: 'pipe' });
    return false;
  } catch {
    return 'PgBouncer is not installed (apt-get install pgbouncer)';
  }
}

describe('behind PgBouncer', { skip: whyNot(), timeout: 300_000 }, () => {
  let database: TestDatabase;
  let pooler: ChildProcess;
  let folder: string;
  let env: Record<string, string>;
  let clinic: Clinic;

  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'interchange-pgbouncer-'));
    const url = new URL(database.url);
    const port = await freePort();
    pooler = await startPooler(url, port);
    url.port = String(port);
    url.searchParams.set('target_session_attrs', 'read-write');
    env = { DATABASE_URL: url.href, MASTER_KEY: randomBytes(32).toString('hex') };
    clinic = await openClinic(env);
    await clinic.start();
  });
  after(async () => {
    await clinic.close();
    pooler.kill('SIGTERM');
    await once(pooler, 'exit');
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });

  async function startPooler(to: URL, port: number): Promise<ChildProcess> {
    const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
    const database = to.pathname.slice(1);
    await writeFile(users, `"${to.username}" "${decodeURIComponent(to.password)}"\n`);
    await writeFile(
      settings,
      `[databases]
${database} = host=${to.hostname} port=${to.port}
transactions = host=${to.hostname} port=${to.port} dbname=${database} pool_mode=transaction
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = session
max_client_conn = 200
default_pool_size = 100
`,
    );
    for (const path of [folder, settings, users]) await chmod(path, 0o755);
    const child = spawn('pgbouncer', ['--quiet', settings], { env: { PATH }, stdio: 'ignore', ...NOBODY });
    await waitUntil(async () => {
      const socket = connect(port, '127.0.0.1');
      const [event] = await Promise.race([
        once(socket, 'connect').then(() => ['connect']),
        once(socket, 'error').then(() => ['error']),
      ]).catch(() => ['error']);
      socket.destroy();
      assert.equal(child.exitCode, null, 'PgBouncer runs');
      return event === 'connect';
    }, 'PgBouncer listens');
    return child;
  }

  test('in session mode every flow works, and a new connection finds nothing of the session before it', async () => {
    await clinic.useEverything();
    const file = join(folder, 'patient.ndjson');
    await writeFile(
      file,
      `${JSON.stringify({ resourceType: 'Patient', id: 'dry', name: [{ family: 'Dry' }] })}\n`,
    );
    // A dry run makes its session read-only, and fills it with temporary tables.
    await clinic.command('import', '--dry-run', ...clinic.place, file);
    await clinic.useEverything();
    await clinic.command('access-log', 'verify');
  });

  test('in session mode a change that another process makes is heard of at once', async () => {
    const { accessToken } = await clinic.login();
    const search = async () => {
      const headers = { authorization: `Bearer ${accessToken}` };
      return (await fetch(`${clinic.baseUrl()}/patients/base?search=Version`, { headers })).status;
    };
    assert.equal(await search(), 200);
    await clinic.command('account', 'disable', '--email', 'system@example.org');
    assert.equal(await search(), 401);
    await clinic.command('account', 'enable', '--email', 'system@example.org');
  });

  const inTransactionMode = () =>
    Object.assign(new URL(env.DATABASE_URL ?? ''), { pathname: '/transactions' }).href;

  test('the doctor tells the modes apart [CMD-24]', async () => {
    const pooler = async (DATABASE_URL = '') => {
      const { stdout } = await runCommand(['doctor'], { env: { ...env, DATABASE_URL } });
      return /^([a-z ]+?) +pooler /m.exec(stdout)?.[1] ?? assert.fail(stdout);
    };
    assert.deepEqual([await pooler(env.DATABASE_URL), await pooler(inTransactionMode())], ['ok', 'failed']);
  });

  test('in transaction mode a command says that it cannot work, and why', async () => {
    const { code, stderr } = await runCommand(['migrate'], {
      env: { ...env, DATABASE_URL: inTransactionMode() },
    });
    assert.equal(code, 1);
    assert.match(stderr, /Set it to session mode/);
  });
});
