import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type pg from 'pg';
import { createChangeNotifications } from './change-notifications.ts';

/** A live connection whose statements wait until the test ends them. */
function connection() {
  const waiting: { answer(): void; fail(): void }[] = [];
  const client = {
    query: () =>
      new Promise((resolve, reject) =>
        waiting.push({
          answer: () => resolve({ rows: [], rowCount: 0 }),
          fail: () => reject(new Error('Connection terminated')),
        }),
      ),
  } as unknown as pg.Client;
  return { waiting, client };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const STATEMENT = { text: 'select 1' };

async function settled(promise: Promise<unknown>): Promise<boolean> {
  await turn();
  await turn();
  return Promise.race([promise.then(() => true), turn().then(() => false)]);
}

describe('createChangeNotifications', () => {
  test('waits for no round trip when a statement sent after the mark was answered', async () => {
    const { waiting, client } = connection();
    const changes = createChangeNotifications({ client: () => client }, () => assert.fail('no doubt'));
    const mark = changes.mark();
    const append = changes.connection()?.query(STATEMENT);
    waiting[0]?.answer();
    await append;
    await changes.receivedUntil(mark);
    assert.equal(waiting.length, 1);
  });

  test('does not count a statement that was sent before the mark, however late it is answered', async () => {
    const { waiting, client } = connection();
    const changes = createChangeNotifications({ client: () => client }, () => assert.fail('no doubt'));
    const earlier = changes.connection()?.query(STATEMENT);
    const mark = changes.mark();
    waiting[0]?.answer();
    await earlier;
    const since = changes.receivedUntil(mark);
    assert.equal(await settled(since), false);
    assert.equal(waiting.length, 2);
    waiting[1]?.answer();
    await since;
  });

  test('makes one round trip for those that wait together, and a new one for who comes later', async () => {
    const { waiting, client } = connection();
    const changes = createChangeNotifications({ client: () => client }, () => assert.fail('no doubt'));
    const together = [changes.receivedUntil(changes.mark()), changes.receivedUntil(changes.mark())];
    await turn();
    assert.equal(waiting.length, 1);
    const later = changes.receivedUntil(changes.mark());
    await turn();
    waiting[0]?.answer();
    await Promise.all(together);
    assert.equal(await settled(later), false);
    waiting[1]?.answer();
    await later;
    assert.equal(waiting.length, 2);
  });

  test('is in doubt when a statement fails, before anyone goes on, and never rejects', async () => {
    const { waiting, client } = connection();
    let doubts = 0;
    const changes = createChangeNotifications({ client: () => client }, () => {
      doubts += 1;
    });
    const since = changes.receivedUntil(changes.mark()).then(() => doubts);
    await turn();
    waiting[0]?.fail();
    assert.equal(await since, 1);
    const append = changes.connection()?.query(STATEMENT);
    waiting[1]?.fail();
    await assert.rejects(append ?? Promise.resolve(), /terminated/);
    assert.equal(doubts, 2);
  });

  test('waits for nothing while the connection is down: callers are read each time then [SEC-21]', async () => {
    const changes = createChangeNotifications({ client: () => undefined }, () => undefined);
    assert.equal(changes.connection(), undefined);
    await changes.receivedUntil(changes.mark());
  });
});
