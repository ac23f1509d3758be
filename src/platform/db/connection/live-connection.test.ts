import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../../test-support/database/database.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';
import { type LiveConnection, openLiveConnection } from './live-connection.ts';

async function pidOf(live: LiveConnection): Promise<number> {
  const answer = await live.client()?.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
  return answer?.rows[0]?.pid ?? 0;
}

const database = await useTestDatabase();

describe('openLiveConnection', () => {
  interface Watched {
    live: LiveConnection;
    heard: string[];
    states: EventTarget;
  }

  async function open(): Promise<Watched> {
    const heard: string[] = [];
    const states = new EventTarget();
    const live = await openLiveConnection({
      connection: { url: database.url, applicationName: 'live' },
      channels: ['first', 'Second channel'],
      onNotification: (channel, payload) => heard.push(`${channel}: ${payload}`),
      onStateChange: (up) => states.dispatchEvent(new Event(up ? 'up' : 'down')),
      onError: () => undefined,
    });
    return { live, heard, states };
  }

  test('hears of every finished transaction before a statement sent afterwards returns', async () => {
    const { live, heard } = await open();
    for (let n = 0; n < 300; n += 1) {
      await database.pool.query({ text: 'select pg_notify($1, $2)', values: ['first', String(n)] });
      await live.client()?.query({ text: 'select 1' });
      assert.equal(heard.at(-1), `first: ${n}`);
    }
    await live.close();
  });

  test('takes statements that come together one after the other, as pg 9 will ask for', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    const { live } = await open();
    const together = Array.from({ length: 5 }, (_, n) =>
      live.client()?.query<{ n: number }>({ text: 'select $1::int as n', values: [n] }),
    );
    const answers = await Promise.all(together);
    assert.deepEqual(
      answers.map((answer) => answer?.rows[0]?.n),
      [0, 1, 2, 3, 4],
    );
    await assert.rejects(live.client()?.query({ text: 'select 1 / 0' }) ?? Promise.resolve());
    assert.equal(
      (await live.client()?.query({ text: 'select 1' }))?.rowCount,
      1,
      'a failure is its own alone',
    );
    await live.close();
    process.off('warning', onWarning);
    assert.deepEqual(warnings, []);
  });

  test('listens to channels whose names need quotes, and not to others', async () => {
    const { live, heard } = await open();
    for (const channel of ['other', 'Second channel'])
      await database.pool.query({ text: `select pg_notify($1, 'x')`, values: [channel] });
    await live.client()?.query({ text: 'select 1' });
    assert.deepEqual(heard, ['Second channel: x']);
    await live.close();
  });

  test('is down while the connection is lost, then listens again', async () => {
    const { live, heard, states } = await open();
    // Looked at there and then: it may be up again before the test goes on.
    const lost = once(states, 'down').then(() => [live.up, live.client()]);
    const up = once(states, 'up');
    const pid = await pidOf(live);
    await terminate(pid);
    assert.deepEqual(await lost, [false, undefined]);
    await up;
    await database.pool.query(`select pg_notify('first', 'again')`);
    await live.client()?.query({ text: 'select 1' });
    assert.deepEqual(heard, ['first: again']);
    await live.close();
  });

  test('leaves a server that takes no writes any more [OPS-31]', async () => {
    const { live, states } = await open();
    const pid = await pidOf(live);
    await live.client()?.query({ text: 'set default_transaction_read_only = on' });
    const up = once(states, 'up');
    await assert.rejects(live.client()?.query({ text: 'create table refused ()' }) ?? Promise.resolve(), {
      code: '25006',
    });
    await up;
    assert.notEqual(await pidOf(live), pid);
    await live.close();
  });

  test('leaves a connection that does not answer in time at once, not when the server ends it [LOG-20]', async () => {
    const { live, states } = await open();
    const pid = await pidOf(live);
    const up = once(states, 'up');
    const hanging = { text: 'select pg_sleep(3600)', query_timeout: 50 };
    await assert.rejects(live.client()?.query(hanging) ?? Promise.resolve(), /Query read timeout/);
    assert.equal(live.up, false);
    await up;
    assert.notEqual(await pidOf(live), pid);
    await terminate(pid);
    await live.close();
  });

  test('stays closed when it is closed while it reconnects', async () => {
    const { live, states } = await open();
    const down = once(states, 'down');
    const pid = await pidOf(live);
    await terminate(pid);
    await down;
    await live.close();
    await untilGone();
    assert.equal(live.up, false);
  });

  test('leaves no connection behind when the first attempt fails', async () => {
    const failing = openLiveConnection({
      connection: { url: database.url, applicationName: 'live' },
      channels: [''],
      onNotification: () => undefined,
      onError: () => undefined,
    });
    await assert.rejects(failing, { code: '42601' });
    await untilGone();
  });

  async function terminate(pid: number): Promise<void> {
    const owner = await database.connectOwner();
    await owner.query('select pg_terminate_backend($1)', [pid]);
    await owner.end();
  }

  /** No live connection is left on the server. */
  async function untilGone(): Promise<void> {
    await waitForDisconnect(database.pool, 'live');
  }
});
