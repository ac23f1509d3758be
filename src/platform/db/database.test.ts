import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import type { Statement } from './connection/database-client.ts';
import { answeredWithin, clientConfig, createPool, transaction } from './database.ts';
import { outageOf } from './unavailable.ts';

const database = await createTestDatabase();
const owner = createPool({ url: database.url, max: 2, applicationName: 'owner' }, () => undefined);
await owner.query('create table counter (n integer primary key deferrable initially deferred)');
await owner.query('grant all on counter to interchange_service');
after(async () => {
  await owner.end();
  await database.drop();
});

describe('a pool of the service', () => {
  test('acts as the role of the service [OPS-7]', async () => {
    const { rows } = await database.pool.query('select current_user as role');
    assert.deepEqual(rows, [{ role: 'interchange_service' }]);
  });

  test('keeps the role, the zone, the way of writing times and the name when the URL brings options of its own', async () => {
    const url = `${database.url}?options=-c%20work_mem%3D5MB%20-c%20role%3Dnone%20-c%20DateStyle%3DGerman&application_name=other`;
    const options = { url, max: 1, applicationName: 'named', role: 'interchange_service' };
    const pool = createPool(options, () => undefined);
    try {
      const { rows } = await pool.query(
        `select current_user as role, current_setting('work_mem') as memory,
                current_setting('TimeZone') as zone, current_setting('DateStyle') as dates,
                current_setting('application_name') as name`,
      );
      const [zone, dates] = ['UTC', 'ISO, MDY'];
      assert.deepEqual(rows, [{ role: 'interchange_service', memory: '5MB', zone, dates, name: 'named' }]);
    } finally {
      await pool.end();
    }
  });

  test('asks for nothing in its start-up message that a pooler refuses', async () => {
    const { options, statement_timeout, lock_timeout } = clientConfig({
      url: database.url,
      applicationName: 'test',
      role: 'interchange_service',
      limits: { statementMs: 1, lockMs: 1, idleInTransactionMs: 1 },
    });
    assert.deepEqual([options, statement_timeout, lock_timeout], [undefined, undefined, undefined]);
  });

  test('lets PostgreSQL cut off what takes too long', async () => {
    const limits = { statementMs: 1_000, lockMs: 100, idleInTransactionMs: 200 };
    const pool = createPool(
      { url: database.url, max: 2, applicationName: 'limited', limits },
      () => undefined,
    );
    try {
      await assert.rejects(pool.query('select pg_sleep(30)'), { code: '57014' });
      await transaction(owner, async (client) => {
        await client.query('lock table counter');
        await assert.rejects(pool.query('select n from counter'), { code: '55P03' });
      });
      const idle = transaction(pool, async (client) => {
        await once(client, 'end');
        await client.query('select 1');
      });
      await assert.rejects(idle, (error) => outageOf(error) === 'slow');
    } finally {
      await pool.end();
    }
  });

  test('reads dates as text and whole numbers as numbers', async () => {
    const { rows } = await database.pool.query(
      `select date '2024-02-29' as day, 9007199254740991::bigint as large, 1.20::numeric as exact`,
    );
    assert.deepEqual(rows, [{ day: '2024-02-29', large: 9007199254740991, exact: '1.20' }]);
  });

  test('may not update or delete the access log or the data keys, nor reach a partition of the log [LOG-12, OPS-7]', async () => {
    for (const statement of [
      `update access_log set outcome = 'allowed'`,
      'delete from access_log',
      'truncate access_log',
      'select * from access_log_default',
      'delete from access_log_default',
      'drop table access_log',
      'delete from access_log_writer',
      'delete from schema_migration',
      'delete from data_key',
      `update data_key set wrapped = ''`,
    ])
      await assert.rejects(database.pool.query(statement), { code: '42501' }, statement);
  });

  test(
    'may not disable triggers of the access log',
    needsPlainPostgres('Citus refuses it to everyone, with another error'),
    () =>
      assert.rejects(database.pool.query('alter table access_log disable trigger all'), { code: '42501' }),
  );

  describe('a statement that hands its rows on', () => {
    const numbers = (last: number, onRow: (row: { n: number }) => void) => ({
      text: 'select n from generate_series(1, $1::int) as n',
      values: [last],
      onRow,
    });

    test('gives each row, and none in its answer, on a pool and in a transaction', async () => {
      for (const run of [
        (statement: Statement<{ n: number }>) => database.pool.query(statement),
        (statement: Statement<{ n: number }>) =>
          transaction(database.pool, (client) => client.query(statement)),
      ]) {
        const seen: number[] = [];
        const { rows, rowCount } = await run(numbers(3, ({ n }) => seen.push(n)));
        assert.deepEqual([seen, rows, rowCount], [[1, 2, 3], [], 3]);
      }
    });

    test('gives a row before the next one is there', async () => {
      const first = Promise.withResolvers<void>();
      const seen: number[] = [];
      const holder = await owner.connect();
      try {
        await holder.query('select pg_advisory_lock(4711)');
        const running = database.pool.query({
          // PostgreSQL sends what it has once there is more than 8 KB of it.
          text: `
            select n, repeat('x', 20000) as wide,
              case when n = 2 then pg_advisory_xact_lock_shared(4711) end as waits
            from generate_series(1, 2) as n`,
          onRow({ n }: { n: number }) {
            seen.push(n);
            first.resolve();
          },
        } as Statement<{ n: number }>);
        await first.promise;
        assert.deepEqual(seen, [1]);
        await holder.query('select pg_advisory_unlock(4711)');
        await running;
        assert.deepEqual(seen, [1, 2]);
      } finally {
        holder.release();
      }
    });

    test('fails with what taking a row throws, or with what PostgreSQL says, and loses nothing after it', async () => {
      const refused = numbers(3, ({ n }) => {
        if (n === 2) throw new RangeError('no two');
      });
      await assert.rejects(database.pool.query(refused), new RangeError('no two'));
      const failing = {
        ...numbers(3, () => undefined),
        text: 'select 1 / (n - $1::int) from generate_series(1, 3) as n',
      };
      await assert.rejects(database.pool.query(failing), { code: '22012' });
      await assert.rejects(
        transaction(database.pool, (client) => client.query(refused)),
        new RangeError('no two'),
      );
      assert.deepEqual((await database.pool.query('select 1 as one')).rows, [{ one: 1 }]);
    });

    test('is given up, with its connection, when no answer comes in its time', async () => {
      const hanging = { text: 'select pg_sleep(30)', onRow: () => undefined };
      await assert.rejects(answeredWithin(database.pool, 50).query(hanging), /Query read timeout/);
    });
  });

  describe('transaction', () => {
    const count = async () => (await owner.query('select n from counter order by n')).rows.map(({ n }) => n);

    test('commits what the work did and returns its result', async () => {
      const result = await transaction(database.pool, async (client) => {
        await client.query('insert into counter values (1)');
        return 'done';
      });
      assert.equal(result, 'done');
      assert.deepEqual(await count(), [1]);
    });

    test('rolls back when the work throws, and passes the error on', async () => {
      const failing = transaction(database.pool, async (client) => {
        await client.query('insert into counter values (2)');
        throw new Error('no');
      });
      await assert.rejects(failing, /^Error: no$/);
      assert.deepEqual(await count(), [1]);
    });

    test('rejects when the commit itself fails, and leaves the connection usable', async () => {
      const failing = transaction(database.pool, (client) => client.query('insert into counter values (1)'));
      await assert.rejects(failing, { code: '23505' });
      const { rows } = await database.pool.query('select pg_current_xact_id_if_assigned() as open');
      assert.deepEqual(rows, [{ open: null }]);
    });

    test('survives the loss of its connection between statements, and drops that connection', async () => {
      const lost = transaction(database.pool, async (client) => {
        const { rows } = await client.query('select pg_backend_pid() as pid');
        const ended = new Promise((resolve) => client.once('end', resolve));
        await owner.query('select pg_terminate_backend($1)', [rows[0].pid]);
        await ended;
        await client.query('select 1');
      });
      await assert.rejects(lost);
      assert.deepEqual((await database.pool.query('select 1 as one')).rows, [{ one: 1 }]);
    });
  });
});
