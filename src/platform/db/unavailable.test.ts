import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { freePort } from '../../../test-support/service/free-port.ts';
import { createPool } from './database.ts';
import { outageOf, watched } from './unavailable.ts';

const database = await useTestDatabase();

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );

test('what PostgreSQL says of itself', async () => {
  const kinds: Record<string, readonly string[]> = {
    unreachable: ['08006', '57P01', '57P02', '57P03', '53300'],
    refusing: ['53000', '53100', '53200', '53400', '58030', '25006'],
    slow: ['57014', '55P03', '25P03', '25P04'],
    conflict: ['40001', '40P01'],
    undefined: ['23505', '22001', '42601', '58P01', 'XX000'],
  };
  for (const [kind, states] of Object.entries(kinds))
    for (const state of states) {
      const text = `do $$ begin raise exception using errcode = '${state}'; end $$`;
      assert.equal(String(outageOf(await failureOf(database.pool.query(text)))), kind, state);
    }
});

test('a connection that is refused or lost is an outage where it was one to the database', async () => {
  const port = await freePort();
  const url = `postgres://127.0.0.1:${port}/nothing`;
  const pool = createPool({ url, max: 1, applicationName: 'test' }, () => undefined);
  for (const work of [pool.query('select 1'), pool.connect()]) {
    const error = await failureOf(work);
    assert.equal((error as { code?: string }).code, 'ECONNREFUSED');
    assert.equal(outageOf(error), 'unreachable');
  }
  await pool.end();

  const elsewhere = await failureOf(once(connect(port, '127.0.0.1'), 'connect'));
  assert.equal((elsewhere as { code?: string }).code, 'ECONNREFUSED');
  assert.equal(outageOf(elsewhere), undefined);
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01'])
    assert.equal(outageOf(Object.assign(new Error('Connection terminated'), { code })), undefined, code);
});

test('a name of the database that DNS has no answer for is an outage [HTTP-23]', async () => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL']) {
    const unresolved = Object.assign(new Error(`getaddrinfo ${code} db`), { code, syscall: 'getaddrinfo' });
    assert.equal(outageOf(await failureOf(watched(() => Promise.reject(unresolved))())), 'unreachable', code);
  }
});

test('a statement whose connection is lost tells of an outage', async () => {
  const pool = createPool({ url: database.adminUrl, max: 2, applicationName: 'test' }, () => undefined);
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const waiting = failureOf(client.query('select pg_sleep(60)'));
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    assert.equal(outageOf(await waiting), 'unreachable');
    assert.equal(outageOf(await failureOf(client.query('select 1'))), 'unreachable');
  } finally {
    client.release(true);
    await pool.end();
  }
});

test('a statement that is wrong is none', async () => {
  assert.equal(outageOf(await failureOf(database.pool.query('select nothing'))), undefined);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  assert.equal(outageOf(await failureOf(database.pool.query('select $1::jsonb', [circular]))), undefined);
});
