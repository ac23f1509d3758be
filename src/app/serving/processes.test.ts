/** Several processes on one port, as real processes that are really killed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { isAlive } from '../../../local-postgres/postgres-process.ts';
import { requestBytes } from '../../../test-support/http/raw-http.ts';
import { startTestApi, type TestApi } from '../../../test-support/service/api.ts';
import { type StartedCommand, startCommand } from '../../../test-support/service/command.ts';
import { freePort } from '../../../test-support/service/free-port.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';

/** At SIGUSR2 the program that processes are started by is gone, as while it is installed anew, and back at the next. */
const LOSE_PROGRAM = encodeURIComponent(`
  const { execPath } = process;
  process.on('SIGUSR2', () => {
    process.execPath = process.execPath === execPath ? '/nowhere' : execPath;
  });
`);

describe('processes of one port', { timeout: 600_000 }, () => {
  let api: TestApi;
  const started: StartedCommand[] = [];
  before(async () => {
    api = await startTestApi();
  });
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await api.close();
  });

  function start(processes: number, port = 0, env: Record<string, string> = {}): StartedCommand {
    const count = processes === 1 ? [] : ['--processes', String(processes)];
    const service = startCommand(['serve', '--role', 'api', ...count], {
      env: { ...api.env, PORT: String(port), DATABASE_CONNECTIONS: '2', ...env },
    });
    started.push(service);
    return service;
  }

  async function serving(
    service: StartedCommand,
    processes: number,
  ): Promise<{ port: number; pids: number[] }> {
    const lines = () => service.output().stdout.match(/.*"event":"listening".*/g) ?? [];
    await waitUntil(() => lines().length >= processes);
    const events = lines().map((line) => JSON.parse(line) as { pid: number; port: number });
    return { port: events[0]?.port ?? 0, pids: events.map(({ pid }) => pid) };
  }

  test('answers or closes every connection when they are killed one after the other [OPS-4]', async () => {
    const processes = 4;
    const service = start(processes);
    const { port, pids } = await serving(service, processes);
    const load = createLoad(port);
    for (const pid of pids.slice(1)) {
      const opened = load.opened();
      await waitUntil(() => load.opened() >= opened + 100);
      process.kill(pid, 'SIGKILL');
    }
    const opened = load.opened();
    await waitUntil(() => load.opened() >= opened + 100);
    load.stop();
    await waitUntil(() => load.unsettled() === 0, 'no connection hangs');
    assert.ok(load.answered() > load.opened() / 2, `${load.answered()} of ${load.opened()}`);
  });

  test('end when the one that started them is killed, and leave the port free', async () => {
    const port = await freePort();
    const service = start(2, port);
    const { pids } = await serving(service, 2);
    service.child.kill('SIGKILL');
    await waitUntil(() => !pids.some(isAlive), 'no process goes on alone');
    const next = start(2, port);
    assert.equal((await serving(next, 2)).port, port);
  });

  test('share the free port of --port 0 [OPS-4]', async () => {
    const service = startCommand(['serve', '--role', 'api', '--processes', '2', '--port', '0'], {
      env: api.env,
    });
    started.push(service);
    const { port } = await serving(service, 2);
    const ports = service.output().stdout.matchAll(/"event":"listening".*?"port":(\d+)/g);
    assert.deepEqual(
      Array.from(ports, ([, found]) => Number(found)),
      [port, port],
    );
  });

  test('do not share the port with another service', async () => {
    const service = start(2);
    const { port } = await serving(service, 2);
    for (const processes of [1, 2]) {
      const { code, stderr, stdout } = await start(processes, port).ended;
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `error: Another program uses 127.0.0.1:${port}. Choose another port with --port or PORT.\n`,
      );
      assert.doesNotMatch(stdout, /"event":"listening"/);
    }
  });

  test('do not share the port with another program that lets others share it', async () => {
    const other = createServer().listen({
      host: '127.0.0.1',
      port: 0,
      reusePort: process.platform === 'linux',
    });
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      await assert.rejects(start(2, port).printed(/"event":"listening"/), /Another program uses/);
    } finally {
      other.close();
    }
  });

  test('of two services that start on one port at the same moment, one serves', async () => {
    const port = await freePort();
    const both = [start(2, port), start(2, port)];
    const first = await Promise.race(both.map(({ ended }) => ended));
    assert.equal(first.code, 1);
    assert.match(first.stderr, /Another program uses/);
    const other = both.find(({ child }) => child.exitCode === null);
    assert.ok(other);
    assert.equal((await serving(other, 2)).port, port);
  });

  test('go on when their metrics are asked for while one of them is killed, and no counter falls [OPS-4, OPS-19]', {
    skip: process.platform !== 'linux' && 'reads /proc',
  }, async () => {
    const metricsPort = await freePort();
    const service = start(2, 0, { METRICS_PORT: String(metricsPort) });
    const { port, pids } = await serving(service, 2);
    for (let call = 0; call < 20; call += 1)
      await fetch(`http://127.0.0.1:${port}/nowhere`, { headers: { connection: 'close' } });
    const counted = async () => {
      const page = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
      const counts = (await page.text()).matchAll(
        /^interchange_http_request_duration_seconds_count.* (\d+)$/gm,
      );
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    assert.equal(await counted(), 20);

    for (const [index, pid] of pids.entries()) {
      const scrape = connect(metricsPort, '127.0.0.1');
      scrape.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      await once(scrape, 'data');
      // What it finds when it goes on: a scrape that waits, and then the end of a process.
      service.child.kill('SIGSTOP');
      await waitUntil(async () => (await stateOf(service.child.pid)) === 'T');
      scrape.write('GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      process.kill(pid, 'SIGKILL');
      await waitUntil(async () => (await stateOf(pid)) === 'Z');
      service.child.kill('SIGCONT');
      const [answer] = await Promise.race([
        once(scrape, 'data'),
        service.ended.then(({ code, stderr }) =>
          Promise.reject(new Error(`it ended with ${code}: ${stderr}`)),
        ),
      ]);
      assert.match(String(answer), /^HTTP\/1\.1 200 /);
      scrape.destroy();
      await serving(service, 3 + index);
    }
    assert.equal(await counted(), 20);
  });

  test('give their metrics while another one starts [OPS-4, OPS-19]', {
    skip: process.platform !== 'linux' && 'reads /proc',
  }, async () => {
    const metricsPort = await freePort();
    const service = start(2, 0, { METRICS_PORT: String(metricsPort) });
    const { pids } = await serving(service, 2);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    const children = `/proc/${service.child.pid}/task/${service.child.pid}/children`;
    await waitUntil(async () => {
      const running = (await readFile(children, 'utf8')).trim().split(' ').map(Number);
      return running.some((pid) => !pids.includes(pid));
    });
    assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status, 200);
  });

  test('go on while another one cannot be started, and get it as soon as it can [OPS-4]', async () => {
    const metricsPort = await freePort();
    const service = start(2, 0, {
      NODE_OPTIONS: `--import=data:text/javascript,${LOSE_PROGRAM}`,
      METRICS_PORT: String(metricsPort),
    });
    const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status;
    const { port, pids } = await serving(service, 2);
    service.child.kill('SIGUSR2');
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await service.printed(/"event":"process-start".*"errorCode":"ENOENT"/);
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } });
    assert.equal(answer.status, 200);
    assert.equal(await metrics(), 200);
    process.kill(pids[1] ?? 0, 'SIGKILL');
    await waitUntil(
      async () => (await metrics()) === 503,
      'the alert for a service that is gone hears of it',
    );
    service.child.kill('SIGUSR2');
    await serving(service, 4);
    assert.equal(await metrics(), 200);
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });

  async function stateOf(pid = 0): Promise<string | undefined> {
    return / ([A-Z]) /.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];
  }
});

/** Keeps eight connections open, each with one request that ends it; the next one opens when one has closed. */
function createLoad(port: number) {
  const open = new Set<Socket>();
  let [opened, answered] = [0, 0];
  let stopped = false;
  const openOne = (): void => {
    const socket = connect(port, '127.0.0.1');
    let bytes = 0;
    opened += 1;
    open.add(socket);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (bytes > 0) answered += 1;
      if (!stopped) openOne();
    });
    socket.write(requestBytes({ method: 'GET', target: '/healthz', headers: {} }));
  };
  for (let n = 0; n < 8; n += 1) openOne();
  return {
    opened: () => opened,
    answered: () => answered,
    unsettled: () => open.size,
    stop: () => {
      stopped = true;
    },
  };
}
