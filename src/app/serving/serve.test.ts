import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { isAlive } from '../../../local-postgres/postgres-process.ts';
import { startDatabaseProxy } from '../../../test-support/database/database-proxy.ts';
import { parseAnswers, requestBytes } from '../../../test-support/http/raw-http.ts';
import { insertEncounter, insertPatient } from '../../../test-support/records/clinical-records.ts';
import {
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
} from '../../../test-support/service/api.ts';
import { type StartedCommand, startCommand } from '../../../test-support/service/command.ts';
import { freePort } from '../../../test-support/service/free-port.ts';
import { waitForDisconnect, waitForLock, waitUntil } from '../../../test-support/wait-until.ts';

describe('serve', { timeout: 600_000 }, () => {
  /** Keeps the database, the keys and an account; what is tested are processes beside it. */
  let api: TestApi;
  let tenant: Tenant;
  let account: TestAccount;
  let path: string;
  let owner: pg.Client;
  const started: StartedCommand[] = [];

  before(async () => {
    api = await startTestApi();
    tenant = await api.createTenant();
    account = await api.createAccount(tenant);
    const patientId = await insertPatient(api.database.pool, tenant);
    const encounterId = await insertEncounter(api.database.pool, tenant, { patientId });
    path = `/api/v1/encounters/fhir/Encounter/${encounterId}?purposeOfUse=TREATMENT`;
    owner = new pg.Client({ connectionString: api.database.adminUrl });
    await owner.connect();
  });
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await owner.end();
    await api.close();
  });

  /** A service of its own on the test's database. */
  async function serve(
    args: string[] = [],
    env: Record<string, string> = {},
    event = 'listening',
    command = 'serve',
  ) {
    const service = startCommand([command, ...args], { env: { ...api.env, PORT: '0', ...env } });
    started.push(service);
    const line = await service.printed(new RegExp(`.*"event":"${event}".*`));
    const { port } = JSON.parse(line[0]) as { port: number };
    const get = (at: string, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}${at}`, { headers: { connection: 'close', ...headers } });
    const read = () => get(path, { authorization: `Bearer ${account.token}` });
    return { ...service, port, get, read };
  }

  async function stop({ child, ended }: StartedCommand): Promise<{ code: number | null; stdout: string }> {
    child.kill('SIGTERM');
    return ended;
  }

  test('finishes a request in flight when it is told to stop, and says meanwhile that it is not ready [OPS-17]', async () => {
    const service = await serve();
    assert.equal((await service.read()).status, 200);
    assert.equal((await service.get('/readyz')).status, 200);

    const holder = new pg.Client({ connectionString: api.database.adminUrl });
    await holder.connect();
    await holder.query('begin');
    // Not the log itself: a service that starts makes months of it, and each would wait for the other.
    await holder.query('lock table access_log_writer in share mode');
    const { socket, bytes } = await open(service.port);
    const authorization = `Bearer ${account.token}`;
    socket.write(
      requestBytes({ method: 'GET', target: path, headers: { authorization, connection: 'keep-alive' } }),
    );
    await waitForLock(owner, { relation: 'access_log_writer' });
    service.child.kill('SIGTERM');
    await service.printed(/"event":"stopping"/);
    await refusesConnections(service.port);
    socket.write(requestBytes({ method: 'GET', target: '/readyz', headers: {} }));
    assert.equal(bytes().length, 0, 'not answered while the trace cannot be written');
    // Before the lock is let go of: the answer and the end of the connection may come at once.
    const closed = once(socket, 'close');
    await holder.query('rollback');
    await holder.end();

    await closed;
    const [read, ready] = parseAnswers(bytes());
    assert.equal(read?.status, 200);
    assert.match(String(read?.body), /"resourceType":"Encounter"/);
    assert.equal(ready?.status, 503);
    assert.match(
      String(ready?.body),
      /^\{"statusCode":503,"message":"Not ready[^"]*","error":"Service Unavailable"\}$/,
    );
    const { code, stdout } = await service.ended;
    assert.equal(code, 0);
    assert.match(stdout, /"event":"stopped"/);
  });

  test('delivers nothing more once it stops, however long a request in flight takes', async () => {
    const service = await serve();
    const delivery = 'interchange delivery';
    await waitUntil(async () => {
      const connected =
        'select from pg_stat_activity where datname = current_database() and application_name = $1';
      return (await owner.query(connected, [delivery])).rows.length > 0;
    });
    const holder = new pg.Client({ connectionString: api.database.adminUrl });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table encounter in access exclusive mode');
    const reading = service.read();
    await waitForLock(owner, { relation: 'encounter' });
    service.child.kill('SIGTERM');
    await waitForDisconnect(owner, delivery);
    assert.equal(times(service, 'stopped'), 0);
    await holder.query('rollback');
    await holder.end();
    assert.equal((await reading).status, 200);
    assert.equal((await service.ended).code, 0);
  });

  test('ends with 0 at SIGINT too, at once, and waits for no connection that is idle', async () => {
    for (const args of [
      ['--role', 'api'],
      ['--processes', '2'],
    ]) {
      const service = await serve(args, { DRAIN_SECONDS: '3600' });
      const idle = await open(service.port);
      service.child.kill('SIGINT');
      const { code, stdout } = await service.ended;
      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /"event":"draining"/);
      idle.socket.destroy();
    }
  });

  describe('told to stop by SIGTERM', () => {
    for (const args of [
      ['--role', 'api'],
      ['--processes', '2'],
    ])
      test(`answers for a while and says that it is not ready (${args.join(' ')}) [OPS-17]`, async () => {
        const service = await serve(args, { DRAIN_SECONDS: '3600' });
        const count = args.includes('2') ? 2 : 1;
        await waitUntil(() => servingPids(service).length === count);
        const idle = await open(service.port);
        service.child.kill('SIGTERM');
        await waitUntil(() => times(service, 'draining') === count);
        for (let call = 0; call < 3; call += 1) {
          const ready = await service.get('/readyz', { connection: 'keep-alive' });
          assert.equal(ready.status, 503);
          assert.match(((await ready.json()) as { message: string }).message, /^Not ready: .* stopping/);
          const read = await service.read();
          assert.deepEqual([read.status, read.headers.get('connection')], [200, 'close']);
        }
        const told = service
          .output()
          .stdout.split('\n')
          .filter((line) => line.includes('"code":"draining"'));
        assert.ok(told.length <= 2 * count && told.length >= 1, told.join('\n'));
        assert.doesNotMatch(told.join('\n'), /"stack"/);
        const closed = once(idle.socket, 'close');
        const keepAlive = { authorization: `Bearer ${account.token}`, connection: 'keep-alive' };
        idle.socket.write(requestBytes({ method: 'GET', target: path, headers: keepAlive }));
        await closed;
        const [last] = parseAnswers(idle.bytes());
        assert.deepEqual([last?.status, last?.headers.connection], [200, 'close'], 'not left to time out');
        assert.equal(times(service, 'stopped'), 0);
        // Signals of one second count as one; a later one ends it at once.
        await waitUntil(() => service.child.kill('SIGTERM') === false, 'it ends at a later signal');
        assert.equal((await service.ended).code, 1);
        await waitUntil(() => !servingPids(service).some(isAlive));
      });

    test('ends by itself when the time is over', async () => {
      const service = await serve(['--role', 'api'], { DRAIN_SECONDS: '1' });
      const { code, stdout } = await stop(service);
      assert.equal(code, 0);
      assert.match(stdout, /"event":"stopping".*"event":"draining".*"event":"stopped"/s);
    });
  });

  test('is what npm start runs where a database is configured, and makes nothing in it [CMD-21]', async () => {
    const counted = async () => {
      const { rows } = await owner.query(
        `select 'organisations' as of, count(*) from organisation
         union all select 'accounts', count(*) from account
         order by 1`,
      );
      return rows;
    };
    const before = await counted();
    const service = await serve([], {}, 'listening', 'start');
    assert.equal((await service.read()).status, 200);
    assert.deepEqual(await counted(), before);
    const { code, stdout } = await stop(service);
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /demo/i);
  });

  test('works without listening as a worker, and stops at once [CMD-17]', async () => {
    const service = await serve(['--role', 'worker'], { DRAIN_SECONDS: '3600' }, 'working');
    assert.doesNotMatch(service.output().stdout, /"event":"listening"/);
    const { code } = await stop(service);
    assert.equal(code, 0);
  });

  test('answers from several processes, says the metrics of all, replaces one that is killed, and stops all of them [CMD-17, OPS-3, OPS-4]', async () => {
    const metricsPort = await freePort();
    const service = await serve(['--processes', '2'], { METRICS_PORT: String(metricsPort) });
    const pids = await waitUntil(() => {
      const found = servingPids(service);
      return found.length === 2 ? found : undefined;
    });
    for (let call = 0; call < 10; call += 1) assert.equal((await service.read()).status, 200);
    const page = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers: { connection: 'close' } });
    assert.match(page.headers.get('content-type') ?? '', /^text\/plain/);
    const text = await page.text();
    const counted = text.matchAll(
      /^interchange_http_request_duration_seconds_count\{[^}]*status="200"[^}]*\} (\d+)/gm,
    );
    assert.equal(
      counted.reduce((sum, [, count]) => sum + Number(count), 0),
      10,
    );
    assert.equal((await service.get('/metrics')).status, 404);

    process.kill(pids[0] ?? 0, 'SIGKILL');
    await waitUntil(() => servingPids(service).length === 3);
    for (let call = 0; call < 6; call += 1) assert.equal((await service.read()).status, 200);
    const { code, stdout } = await stop(service);
    assert.equal(code, 0);
    assert.equal(stdout.match(/"event":"stopped"/g)?.length, 2);
    for (const pid of servingPids(service)) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  test('stops several workers, too, which listen to nothing [OPS-4]', async () => {
    const service = await serve(['--processes', '2', '--role', 'worker'], {}, 'working');
    const { code } = await stop(service);
    assert.equal(code, 0);
  });

  test('ends with 1 and the reason when its port is taken', async () => {
    const { port } = new URL(api.origin);
    const ways: [string[], string][] = [
      [['serve', '--port', port], '--port or PORT'],
      [['serve', '--port', port, '--processes', '2'], '--port or PORT'],
      [['start'], 'PORT=<number> npm start'],
    ];
    for (const [args, names] of ways) {
      const service = startCommand(args, { env: { ...api.env, PORT: port } });
      started.push(service);
      const { code, stderr } = await service.ended;
      assert.equal(code, 1, stderr);
      assert.match(
        stderr,
        new RegExp(
          `^error: Another program uses 127\\.0\\.0\\.1:${port}\\. Choose another port with ${names}\\.$`,
          'm',
        ),
      );
    }
  });

  test('listens on one address of localhost, where every request is answered as it should be [HTTP-2, OPS-17]', async () => {
    // As on most machines, but for that the second one is that of IPv6 there.
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    const twoAddresses = `
      import dns from 'node:dns';
      const { lookup } = dns;
      dns.lookup = (host, options, done) =>
        host === 'localhost' && options.all ? done(null, ${JSON.stringify(addresses)}) : lookup(host, options, done);`;
    const preload = `--import data:text/javascript,${encodeURIComponent(twoAddresses)}`;
    const service = await serve(['--host', 'localhost'], { NODE_OPTIONS: preload });
    assert.equal((await service.get('/healthz')).status, 200);
    const other = connect(service.port, '127.0.0.2');
    await assert.rejects(once(other, 'connect'), { code: 'ECONNREFUSED' });
    await stop(service);
  });

  test('ends with 1 and the fix when it cannot listen where it shall', async () => {
    const { port } = new URL(api.origin);
    const faults: [string[], Record<string, string>, RegExp][] = [
      [
        ['--host', '192.0.2.1'],
        {},
        /This machine does not have the address 192\.0\.2\.1\. .*--host or HOST.*127\.0\.0\.1/,
      ],
      [['--host', '192.0.2.1', '--port', '0'], {}, /This machine does not have the address 192\.0\.2\.1/],
      [['--host', 'no-such-host.invalid'], {}, /The host name no-such-host\.invalid is unknown/],
      [
        ['--port', '0'],
        { METRICS_HOST: '192.0.2.1', METRICS_PORT: '0' },
        /This machine does not have the address 192\.0\.2\.1\. .*with METRICS_HOST, /,
      ],
      [
        ['--port', '0'],
        { METRICS_PORT: port },
        /Another program uses 127\.0\.0\.1:\d+\. Choose another port with METRICS_PORT/,
      ],
    ];
    for (const [args, env, reason] of faults) {
      const service = startCommand(['serve', ...args], { env: { ...api.env, PORT: '0', ...env } });
      started.push(service);
      const { code, stderr } = await service.ended;
      assert.equal(code, 1, stderr);
      assert.match(stderr, reason);
      assert.doesNotMatch(stderr, /\n\s+at |DATABASE_URL/);
    }
  });

  test('answers 503 while the database is gone, and goes on when it is back [HTTP-23, OPS-18]', async () => {
    const proxy = await startDatabaseProxy(api.database.url);
    const service = await serve([], { DATABASE_URL: proxy.url });
    assert.equal((await service.read()).status, 200);

    for (const goAway of [proxy.cut, proxy.freeze]) {
      await goAway();
      const ready = await waitUntil(async () => {
        const answer = await service.get('/readyz');
        return answer.status === 503 ? answer : undefined;
      });
      assert.deepEqual(Object.keys((await ready.json()) as object), ['statusCode', 'message', 'error']);
      assert.equal((await service.get('/healthz')).status, 200);
      if (goAway === proxy.cut) {
        const refused = await service.read();
        assert.equal(refused.status, 503);
        assert.ok(Number(refused.headers.get('retry-after')) > 0);
        assert.deepEqual(Object.keys((await refused.json()) as object), ['statusCode', 'message', 'error']);
      }
      await proxy.mend();
      await waitUntil(async () => (await service.get('/readyz')).status === 200);
      await waitUntil(async () => (await service.read()).status === 200);
    }
    const { code } = await stop(service);
    assert.equal(code, 0);
    await proxy.close();
  });

  test('ends when it is told to, also while the database hangs [OPS-17]', async () => {
    const proxy = await startDatabaseProxy(api.database.url);
    const env = { DATABASE_URL: proxy.url, DATABASE_STATEMENT_SECONDS: '1' };
    const service = await serve(['--role', 'api'], env);
    assert.equal((await service.read()).status, 200);
    proxy.freeze();
    service.child.kill('SIGTERM');
    const { pid = 0 } = service.child;
    try {
      await waitUntil(() => !isAlive(pid), 'its connections to the database are not waited for');
    } finally {
      await proxy.close();
    }
    assert.match((await service.ended).stdout, /"event":"stopped"/);
  });

  test('answers probes by HEAD as by GET [OPS-18]', async () => {
    for (const probe of ['/healthz', '/readyz']) {
      const answer = await fetch(api.origin + probe, { method: 'HEAD' });
      assert.deepEqual([answer.status, await answer.text()], [200, ''], probe);
    }
  });

  test('shows metrics to this machine only [OPS-19]', async () => {
    const service = await serve([], { HOST: '0.0.0.0' });
    await service.read();
    const metrics = await service.get('/metrics');
    assert.equal(metrics.status, 200);
    const text = await metrics.text();
    assert.match(
      text,
      /interchange_http_request_duration_seconds_count\{[^}]*route="[^"]*:encounterId"[^}]*\} 1/,
    );
    assert.match(text, /interchange_access_log_entries_total 1/);
    assert.ok(!text.includes(path), 'no ids in labels');
    for (const name of ['x-forwarded-for', 'forwarded', 'via'])
      assert.equal((await service.get('/metrics', { [name]: '127.0.0.1' })).status, 404);
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    if (outside !== undefined) {
      assert.equal((await fetch(`http://${outside.address}:${service.port}/healthz`)).status, 200);
      assert.equal((await fetch(`http://${outside.address}:${service.port}/metrics`)).status, 404);
    }
    await stop(service);
  });

  test('has metrics on a port of their own where one is set [OPS-19]', async () => {
    const port = await freePort();
    const service = await serve([], { METRICS_PORT: String(port) });
    assert.equal((await service.get('/metrics')).status, 404);
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.equal(metrics.status, 200);
    assert.match(await metrics.text(), /process_cpu_user_seconds_total/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/patients/base`)).status, 404);
    const { code } = await stop(service);
    assert.equal(code, 0);
  });
});

function times({ output }: StartedCommand, event: string): number {
  return output().stdout.split(`"event":"${event}"`).length - 1;
}

function servingPids({ output }: StartedCommand): number[] {
  return Array.from(output().stdout.matchAll(/"event":"listening".*"pid":(\d+)/g), ([, pid]) => Number(pid));
}

async function open(port: number): Promise<{ socket: Socket; bytes: () => Buffer }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, bytes: () => Buffer.concat(chunks) };
}

async function refusesConnections(port: number): Promise<void> {
  await waitUntil(async () => {
    const socket = connect(port, '127.0.0.1');
    const refused = await Promise.race([
      once(socket, 'connect').then(() => undefined),
      once(socket, 'error').then(() => true),
    ]).catch(() => true);
    socket.destroy();
    return refused;
  });
}
