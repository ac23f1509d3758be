import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../../../../test-support/database/database.ts';
import { createPool } from '../database.ts';
import { SERVICE_ROLE } from '../migrate.ts';
import { outageOf } from '../unavailable.ts';
import { onOwnConnection } from './own-connection.ts';

const database = await useTestDatabase();

test('it is set up like those of the pool, needs none of its places, and is closed afterwards', async () => {
  const limits = { statementMs: 12_000, lockMs: 0, idleInTransactionMs: 0 };
  const options = { url: database.url, max: 1, applicationName: 'test', role: SERVICE_ROLE, limits };
  const pool = createPool(options, () => undefined);
  const busy = await pool.connect();
  try {
    const own = await onOwnConnection(pool, async (client) => {
      await client.query('create temp table mine ()');
      const { rows } = await client.query(
        `select current_user as role, current_setting('statement_timeout') as limit, pg_backend_pid() as pid`,
      );
      return rows[0];
    });
    assert.deepEqual([own.role, own.limit], [SERVICE_ROLE, '12s']);
    for (;;) {
      const { rowCount } = await busy.query('select from pg_stat_activity where pid = $1', [own.pid]);
      if (rowCount === 0) break;
    }
  } finally {
    busy.release();
    await pool.end();
  }
});

test('what its work throws is thrown, and a lost connection is known as an outage', async () => {
  await assert.rejects(
    onOwnConnection(database.pool, async () => {
      throw new Error('the work');
    }),
    /the work/,
  );
  const superuser = createPool({ url: database.url, max: 1, applicationName: 'test' }, () => undefined);
  try {
    const lost = onOwnConnection(database.pool, async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid');
      await superuser.query('select pg_terminate_backend($1)', [rows[0].pid]);
      for (;;) await client.query('select');
    });
    await assert.rejects(lost, (error) => outageOf(error) === 'unreachable');
  } finally {
    await superuser.end();
  }
});
