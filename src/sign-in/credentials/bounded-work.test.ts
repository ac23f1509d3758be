import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BoundedWork, createBoundedWork } from './bounded-work.ts';

/** One place and `queue` waiting; each piece of work notes its name when it starts and ends when told to. */
function harness(queue: number, concurrency = 1) {
  const started: string[] = [];
  const endings: (() => void)[] = [];
  const bounded = createBoundedWork({ concurrency, queue, overloaded: () => new Error('overloaded') });
  const submit = (network: string): Promise<'done' | 'refused'> =>
    bounded
      .run(network, async () => {
        started.push(network);
        await new Promise<void>((resolve) => endings.push(resolve));
      })
      .then(
        () => 'done' as const,
        () => 'refused' as const,
      );
  async function finishAll(): Promise<void> {
    for (let end = endings.shift(); end !== undefined; end = endings.shift()) {
      end();
      await new Promise(setImmediate);
    }
  }
  return { bounded, started, submit, finishAll };
}

function fits(bounded: BoundedWork, network: string): boolean {
  try {
    bounded.assertCapacity(network);
    return true;
  } catch {
    return false;
  }
}

test('a network alone has every place; one more is refused', async () => {
  const { bounded, submit, finishAll } = harness(3);
  const outcomes = ['a', 'a', 'a', 'a', 'a'].map(submit);
  assert.equal(fits(bounded, 'a'), false);
  await finishAll();
  assert.deepEqual(await Promise.all(outcomes), ['done', 'done', 'done', 'done', 'refused']);
  assert.equal(fits(bounded, 'a'), true);
});

test('networks are served in turn, however many of one wait [SEC-9]', async () => {
  const { started, submit, finishAll } = harness(10);
  for (const network of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) void submit(network);
  await finishAll();
  assert.deepEqual(started, ['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('in a full queue the network with the most makes room for one with less [SEC-9]', async () => {
  const { bounded, started, submit, finishAll } = harness(4);
  const hog = ['a', 'a', 'a', 'a', 'a'].map(submit);
  assert.equal(fits(bounded, 'a'), false);
  assert.equal(fits(bounded, 'b'), true);
  const others = ['b', 'b', 'b'].map(submit);
  await finishAll();
  assert.deepEqual(await Promise.all(others), ['done', 'done', 'refused'], 'a share, no more');
  assert.deepEqual(await Promise.all(hog), ['done', 'done', 'done', 'refused', 'refused'], 'the newest go');
  assert.deepEqual(started, ['a', 'a', 'b', 'a', 'b']);
});

test('a network that signed in finds room where every place is taken by another network', async () => {
  const { bounded, submit, finishAll } = harness(3);
  const crowd = ['a', 'b', 'c', 'd'].map(submit);
  assert.equal(fits(bounded, 'stranger'), false);
  bounded.prefer('partner');
  assert.equal(fits(bounded, 'partner'), true);
  const partner = submit('partner');
  const stranger = submit('stranger');
  await finishAll();
  assert.equal(await partner, 'done');
  assert.equal(await stranger, 'refused');
  assert.equal((await Promise.all(crowd)).filter((outcome) => outcome === 'refused').length, 1);
});

test('without a queue nothing waits, and a failure gives its place back', async () => {
  const { bounded, submit, finishAll } = harness(0);
  await assert.rejects(
    bounded.run('a', () => Promise.reject(new TypeError('x'))),
    TypeError,
  );
  const outcomes = ['a', 'b'].map(submit);
  await finishAll();
  assert.deepEqual(await Promise.all(outcomes), ['done', 'refused']);
  assert.equal(fits(bounded, 'b'), true);
});
