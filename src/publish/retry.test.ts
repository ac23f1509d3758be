import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createCircuit } from './circuit.ts';
import { createLimit } from './limit.ts';
import { createRecordQueue } from './record-queue.ts';
import type { StoredResource } from './resource.store.ts';
import { delayAfter, isTransient, RETRY } from './retry.ts';

describe('retries', () => {
  const once = { spentMs: 0, retryAfterMs: undefined };

  test('what is tried again', () => {
    for (const status of [408, 429, 500, 502, 503, 504]) assert.ok(isTransient(status), String(status));
    for (const status of [200, 301, 400, 401, 403, 404, 405, 409, 410, 412, 422, 501])
      assert.ok(!isTransient(status), String(status));
  });

  test('delays double, are spread over their upper half, and have a limit', () => {
    for (const random of [0, 0.5, 0.999]) {
      const settings = { ...RETRY, random: () => random };
      for (const [tries, full] of [
        [1, 250],
        [2, 500],
        [4, 2_000],
        [9, 8_000],
      ] as const)
        assert.equal(delayAfter(settings, tries, once), full * (0.5 + random / 2));
    }
  });

  test('retry-after is honoured, and nothing begins after 30 seconds', () => {
    const settings = { ...RETRY, random: () => 0 };
    assert.equal(delayAfter(settings, 1, { spentMs: 0, retryAfterMs: 12_000 }), 12_000);
    assert.equal(delayAfter(settings, 1, { spentMs: 0, retryAfterMs: 31_000 }), undefined);
    assert.equal(delayAfter(settings, 1, { spentMs: 29_875, retryAfterMs: undefined }), 125);
    assert.equal(delayAfter(settings, 1, { spentMs: 29_876, retryAfterMs: undefined }), undefined);
  });
});

test('a circuit opens after three publishes that were not answered, and lets one through at a time', () => {
  let now = 0;
  const circuit = createCircuit({ failures: 3, openMs: 1_000 }, () => now);
  for (let n = 0; n < 2; n += 1) circuit.note(false);
  assert.equal(circuit.waitMs(), 0);
  circuit.note(false);
  assert.equal(circuit.waitMs(), 1_000);
  now = 999;
  assert.equal(circuit.waitMs(), 1);
  now = 1_000;
  assert.equal(circuit.waitMs(), 0, 'the probe');
  assert.equal(circuit.waitMs(), 1_000, 'the others wait for it');
  circuit.note(true);
  assert.equal(circuit.waitMs(), 0);
});

test('a limit holds, in order, also when work fails', async () => {
  const limit = createLimit(2);
  let [running, most] = [0, 0];
  const done: number[] = [];
  const work = (n: number) =>
    limit(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      done.push(n);
      if (n % 3 === 0) throw new Error('no');
    }).catch(() => undefined);
  await Promise.all(Array.from({ length: 20 }, (_, n) => work(n)));
  assert.equal(most, 2);
  assert.deepEqual(
    done,
    done.toSorted((a, b) => a - b),
  );
});

describe('recording', () => {
  const item = (n: number) => ({ key: `Observation/${n}` }) as unknown as StoredResource;

  test('what comes together is written together, and the rest is handed over', async () => {
    const written: number[] = [];
    const queue = createRecordQueue(async (batch) => void written.push(batch.length));
    queue.add(item(1));
    queue.add(item(2));
    await queue.drained();
    queue.add(item(3));
    assert.deepEqual(await queue.takeWaiting(), [item(3)]);
    assert.deepEqual(written, [2]);
  });

  test('what could not be written stays, and is handed over at the end', async () => {
    const queue = createRecordQueue(async () => {
      throw new Error('no');
    });
    queue.add(item(1));
    await assert.rejects(queue.drained());
    queue.add(item(2));
    assert.deepEqual(await queue.takeWaiting(), [item(1), item(2)]);
  });
});
