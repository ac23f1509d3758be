import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../../test-support/database/database.ts';
import { freePort } from '../../../../test-support/service/free-port.ts';
import { connectClient, createPool, type Pool, transaction } from '../database.ts';
import { migrate } from '../migrate.ts';
import { NoServerError, outageOf } from '../unavailable.ts';
import { openLiveConnection } from './live-connection.ts';
import { onOwnConnection } from './own-connection.ts';

let database: TestDatabase;
let owner: Pool;
before(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.url, max: 1, applicationName: 'owner' }, () => undefined);
});
after(async () => {
  await owner.end();
  await database.drop();
});

/** The URL of the test's database at these hosts. */
function urlOf(hosts: readonly string[], query = ''): string {
  const { username, password, pathname } = new URL(database.url);
  return `postgres://${username}:${password}@${hosts}${pathname}${query}`;
}

/** The same with these hosts before its own. */
function behind(hosts: readonly string[], query = ''): string {
  return urlOf([...hosts, new URL(database.url).host], query);
}

async function deadHost(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}

async function using<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool({ url, max: 2, applicationName: 'hosts' }, () => undefined);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const pidOf = async (db: Pick<Pool, 'query'>): Promise<number> =>
  (await db.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]?.pid ?? 0;

describe('several hosts', () => {
  test('are tried in turn by pools, own and live connections, and migrations [OPS-31]', async () => {
    const url = behind([await deadHost()]);
    await using(url, async (pool) => {
      assert.ok((await pidOf(pool)) > 0);
      assert.ok((await onOwnConnection(pool, pidOf)) > 0);
    });
    assert.deepEqual(await migrate(url), []);
    const live = await openLiveConnection({
      connection: { url, applicationName: 'live' },
      channels: ['some'],
      onNotification: () => undefined,
      onError: () => undefined,
    });
    assert.equal(live.up, true);
    await live.close();
  });

  test('of which the first says nothing: it is given up after connect_timeout', async () => {
    const silent = await listen();
    await using(behind([`127.0.0.1:${portOf(silent)}`], '?connect_timeout=1'), async (pool) => {
      assert.ok((await pidOf(pool)) > 0);
    });
    const [first, second] = [`127.0.0.1:${portOf(silent)}`, await deadHost()];
    await using(urlOf([first, second], '?connect_timeout=1'), async (pool) => {
      const message = `${first} did not answer in time, ${second} cannot be used (ECONNREFUSED)`;
      await assert.rejects(pool.query('select 1'), (error: Error) => error.message.includes(message));
    });
    silent.close();
  });

  test('of which none takes TLS, though the URL asks for it: that is the reason', async () => {
    const { host } = new URL(database.url);
    await using(urlOf([host, host], '?sslmode=require'), async (pool) => {
      const reason = `${host} takes no TLS, which sslmode of the URL asks for`;
      await assert.rejects(pool.query('select 1'), (error: Error) => error.message.includes(reason));
    });
  });

  test('the one that was good is used the next time, without a look at the others', async () => {
    const { port, hostname } = new URL(database.url);
    const tried: string[] = [];
    const dead = await listen((socket) => {
      tried.push('dead');
      socket.destroy();
    });
    const good = await listen((socket) => {
      tried.push('good');
      const server = connect(Number(port), hostname);
      socket.on('error', () => server.destroy()).pipe(server);
      server.on('error', () => socket.destroy()).pipe(socket);
    });
    const url = urlOf([`127.0.0.1:${portOf(dead)}`, `127.0.0.1:${portOf(good)}`]);
    await using(url, async (pool) => {
      for (let n = 0; n < 3; n += 1) (await pool.connect()).release(true);
    });
    assert.deepEqual(tried, ['dead', 'good', 'good', 'good', 'good']);
    for (const server of [dead, good]) server.close();
  });

  test('of which none can be used are told with their reasons, and callers are asked to come again', async () => {
    const [first, second] = [await deadHost(), await deadHost()];
    await using(urlOf([first, second]), async (pool) => {
      const error = await pool.query('select 1').catch((failure: unknown) => failure);
      assert.ok(error instanceof NoServerError);
      assert.ok(
        error.message.includes(`${first} cannot be used (ECONNREFUSED), ${second} cannot`),
        error.message,
      );
      assert.equal(outageOf(error), 'unreachable');
    });
  });

  test('a database that does not exist is told as that', async () => {
    const url = behind([await deadHost()]).replace(new URL(database.url).pathname, '/nowhere');
    await assert.rejects(connectClient({ url, applicationName: 'hosts' }), { code: '3D000' });
  });
});

describe('a server that takes no writes', () => {
  const readOnly = async (value: 'on' | 'off') => {
    const name = new URL(database.url).pathname.slice(1);
    await owner.query('set default_transaction_read_only = off');
    await owner.query(`alter database ${name} set default_transaction_read_only = ${value}`);
  };
  after(() => readOnly('off'));

  test('is refused where the URL asks for read-write or names several, and taken otherwise [OPS-31]', async () => {
    await readOnly('on');
    const { host } = new URL(database.url);
    for (const url of [
      `${database.url}?target_session_attrs=read-write`,
      behind([await deadHost()]),
      behind([host]),
    ])
      await using(url, async (pool) => {
        await assert.rejects(
          pool.query('select 1'),
          (error: Error) => error instanceof NoServerError && /is read-only/.test(error.message),
          url,
        );
      });
    for (const url of [database.url, behind([await deadHost()], '?target_session_attrs=any')])
      await using(url, async (pool) => assert.ok((await pidOf(pool)) > 0));
    await readOnly('off');
    await using(behind([host]), async (pool) => assert.ok((await pidOf(pool)) > 0));
  });

  test('any more is left: its connection is not used again [OPS-31]', async () => {
    await using(database.url, async (pool) => {
      const client = await pool.connect();
      const pid = await pidOf(client);
      await client.query('set default_transaction_read_only = on');
      await assert.rejects(client.query('create table refused ()'), { code: '25006' });
      client.release();
      assert.notEqual(await pidOf(pool), pid);
      let lost = 0;
      const failing = transaction(pool, async (own) => {
        lost = await pidOf(own);
        await own.query('set transaction read only');
        await own.query('create table refused ()');
      });
      await assert.rejects(failing, { code: '25006' });
      assert.notEqual(await pidOf(pool), lost);
    });
  });
});

test('an answer that does not come is not waited for longer than the limit and a little, and the connection is left', async () => {
  // A commit that waits for a synchronous standby is not cut off by PostgreSQL.
  const limits = { statementMs: 100, lockMs: 0, idleInTransactionMs: 0 };
  const pool = createPool({ url: database.url, max: 1, applicationName: 'hosts', limits }, () => undefined);
  try {
    const client = await pool.connect();
    const pid = await pidOf(client);
    await client.query('set statement_timeout = 0');
    const error = await client.query('select pg_sleep(600)').catch((failure: unknown) => failure);
    assert.equal(outageOf(error), 'unreachable');
    client.release();
    assert.notEqual(await pidOf(pool), pid);
    await owner.query('select pg_terminate_backend($1)', [pid]);
  } finally {
    await pool.end();
  }
});

async function listen(onConnection: (socket: Socket) => void = () => undefined): Promise<Server> {
  const server = createServer(onConnection).unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
