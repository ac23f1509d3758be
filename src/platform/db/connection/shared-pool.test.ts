import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../../test-support/database.ts';
import { type Client, createPool, type Pool } from '../database.ts';
import { countedFor } from './shared-pool.ts';

let database: TestDatabase;
let pool: Pool;
before(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, max: 8, shared: true, applicationName: 'shared' }, () => undefined);
});
after(async () => {
  await pool.end();
  await database.drop();
});

/** Takes of connections for a party: those that it got, and how many it still waits for. */
function takesOf(party: string, count: number) {
  const got: Client[] = [];
  const takes = Array.from({ length: count }, () =>
    countedFor(party, () => pool.connect()).then((client) => got.push(client)),
  );
  return { got, all: Promise.all(takes) };
}
/** Whoever may take a connection has it by then: this one comes after them, and counts for nobody. */
const settled = async () => {
  for (let count = 0; count < 3; count += 1) await pool.query('select 1');
};

test('a party has as many as it leaves free, and the others share what is left in the same way [OPS-41]', async () => {
  const first = takesOf('first', 8);
  await settled();
  const second = takesOf('second', 8);
  await settled();
  const third = takesOf('third', 8);
  await settled();
  assert.deepEqual(
    [first, second, third].map(({ got }) => got.length),
    [4, 2, 1],
  );
  // One is left, for whoever has none.
  await countedFor('fourth', () => pool.query('select 1'));
  const open = [first, second, third];
  while (open.some(({ got }) => got.length > 0)) {
    for (const { got } of open) got.shift()?.release();
    await settled();
  }
  await Promise.all(open.map(({ all }) => all));
  assert.deepEqual([pool.totalCount - pool.idleCount, pool.waitingCount], [0, 0], 'nothing is kept');
});

test('a connection that fails is given back, and one after the other a party has as many as it likes [OPS-41]', async () => {
  for (let count = 0; count < 20; count += 1) {
    await countedFor('one', () => assert.rejects(pool.query('select 1 / 0'), { code: '22012' }));
    const lost = await countedFor('one', () => pool.connect());
    lost.release(true);
  }
  const { got, all } = takesOf('one', 4);
  await all;
  for (const client of got) client.release();
});
