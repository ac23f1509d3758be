import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createBatcher } from './batch.ts';

/** A loader that is answered by hand. */
function heldLoader() {
  const loads: { keys: number[]; answer: (values: number[]) => void; fail: (error: Error) => void }[] = [];
  const load = (keys: number[]): Promise<number[]> =>
    new Promise((answer, fail) => {
      loads.push({ keys, answer, fail });
    });
  return { loads, load };
}

const double = async (keys: number[]): Promise<number[]> => keys.map((key) => key * 2);

describe('createBatcher', () => {
  test('loads keys of one turn together and answers each with its own value', async () => {
    const seen: number[][] = [];
    const read = createBatcher<number, number>({
      maxKeys: 10,
      maxInFlight: 1,
      load: (keys) => {
        seen.push(keys);
        return double(keys);
      },
    });
    assert.deepEqual(await Promise.all([read(1), read(2), read(3)]), [2, 4, 6]);
    assert.deepEqual(seen, [[1, 2, 3]]);
  });

  test('splits at maxKeys and leaves nobody waiting', async () => {
    const sizes: number[] = [];
    const read = createBatcher<number, number>({
      maxKeys: 2,
      maxInFlight: 3,
      load: (keys) => {
        sizes.push(keys.length);
        return double(keys);
      },
    });
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(read)), [2, 4, 6, 8, 10]);
    assert.deepEqual(sizes, [2, 2, 1]);
  });

  test('gathers what arrives while maxInFlight loads are under way', async () => {
    const { loads, load } = heldLoader();
    const read = createBatcher<number, number>({ maxKeys: 10, maxInFlight: 1, load });
    const first = read(1);
    await turn();
    const later = [read(2), read(3)];
    await turn();
    await turn();
    assert.deepEqual(
      loads.map(({ keys }) => keys),
      [[1]],
    );
    loads[0]?.answer([10]);
    assert.equal(await first, 10);
    await turn();
    await turn();
    assert.deepEqual(loads[1]?.keys, [2, 3]);
    loads[1]?.answer([20, 30]);
    assert.deepEqual(await Promise.all(later), [20, 30]);
  });

  test('answers a key before its load ends, when the load has its value, and the others with undefined', async () => {
    const ended = Promise.withResolvers<undefined>();
    const read = createBatcher<number, number | undefined>({
      maxKeys: 10,
      maxInFlight: 1,
      load(keys, answer) {
        answer(keys.indexOf(2), 20);
        return ended.promise;
      },
    });
    const [first, second] = [read(1), read(2)];
    assert.equal(await second, 20);
    ended.resolve(undefined);
    assert.equal(await first, undefined);
  });

  test('leaves a key that was answered with its value, whatever comes of the load', async () => {
    const read = createBatcher<number, number>({
      maxKeys: 10,
      maxInFlight: 1,
      async load(keys, answer) {
        answer(keys.indexOf(1), 10);
        throw new Error('gone');
      },
    });
    const settled = await Promise.allSettled([read(1), read(2)]);
    assert.deepEqual(
      settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
      [10, 'gone'],
    );
  });

  test('rejects every key of a failed load, and goes on with the next', async () => {
    const { loads, load } = heldLoader();
    const read = createBatcher<number, number>({ maxKeys: 10, maxInFlight: 1, load });
    const failing = Promise.allSettled([read(1), read(2)]);
    await turn();
    loads[0]?.fail(new Error('gone'));
    assert.deepEqual(
      (await failing).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const next = read(3);
    await turn();
    loads[1]?.answer([30]);
    assert.equal(await next, 30);
  });

  test('rejects when a load throws at once', async () => {
    const read = createBatcher<number, number>({
      maxKeys: 10,
      maxInFlight: 1,
      load: () => {
        throw new Error('at once');
      },
    });
    await assert.rejects(read(1), /at once/);
    await assert.rejects(read(2), /at once/);
  });

  test('rejects when values are missing, rather than answering with another key’s', async () => {
    const read = createBatcher<number, number>({ maxKeys: 10, maxInFlight: 1, load: async () => [1] });
    const settled = await Promise.allSettled([read(1), read(2)]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
