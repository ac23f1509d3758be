import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PUBLISH } from '../servers/publish-settings.ts';
import { createPublishBreaker } from './breaker.ts';
import { createLimit } from './limit.ts';
import type { StoredResource } from './resource.store.ts';
import { createRetryBudget, delayAfter, isTransient, type Tries } from './retry.ts';
import { createRecording } from './send-levels.ts';

describe('retries', () => {
  const once = { leftMs: 30_000, retryAfterMs: undefined };

  test('what is tried again [PUB-26]', () => {
    for (const status of [408, 429, 500, 501, 502, 503, 504, 599])
      assert.ok(isTransient(status), String(status));
    for (const status of [200, 301, 400, 401, 403, 404, 405, 409, 410, 412, 422])
      assert.ok(!isTransient(status), String(status));
  });

  test('delays double, are spread over their upper half, and have a limit [PUB-26]', () => {
    for (const random of [0, 0.5, 0.999]) {
      const settings = { ...PUBLISH.retry, random: () => random };
      for (const [tries, full] of [
        [1, 250],
        [2, 500],
        [4, 2_000],
        [9, 8_000],
      ] as const)
        assert.equal(delayAfter(settings, tries, once), full * (0.5 + random / 2));
    }
  });

  test('retry-after is honoured, and nothing begins when the time is used up [PUB-27]', () => {
    const settings = { ...PUBLISH.retry, random: () => 0 };
    assert.equal(delayAfter(settings, 1, { leftMs: 30_000, retryAfterMs: 12_000 }), 12_000);
    assert.equal(delayAfter(settings, 1, { leftMs: 30_000, retryAfterMs: 30_000 }), undefined);
    assert.equal(delayAfter(settings, 1, { leftMs: 126, retryAfterMs: undefined }), 125);
    assert.equal(delayAfter(settings, 1, { leftMs: 125, retryAfterMs: undefined }), undefined);
  });
});

describe('the time of one publish for trying again', () => {
  const TIMEOUT_MS = 10_000;

  /** A publish whose requests take as long as they are given, or as a test says. */
  function start() {
    let now = 0;
    const settings = { ...PUBLISH.retry, random: () => 0 };
    const nowMs = () => now;
    const { tries } = createRetryBudget(settings, { nowMs });
    const pass = (ms: number) => {
      now += ms;
    };
    return { nowMs, tries, pass };
  }
  const given = (tries: Tries) => Math.min(TIMEOUT_MS, tries.begin());

  test('a target that hangs is given up after 30 seconds, the request under way included [PUB-26]', () => {
    const { nowMs, tries, pass } = start();
    const one = tries();
    const all: number[] = [];
    for (let delayMs: number | undefined = 0; delayMs !== undefined; ) {
      pass(delayMs);
      all.push(given(one));
      assert.ok(nowMs() + (all.at(-1) ?? 0) <= 30_000);
      pass(all.at(-1) ?? 0);
      delayMs = one.failed(undefined);
    }
    assert.deepEqual(all, [10_000, 10_000, 9_625]);
    assert.equal(nowMs(), 30_000);
  });

  test('what else is sent meanwhile has what is left, and not its whole time-out', () => {
    const { tries, pass } = start();
    const [first, second, third] = [tries(), tries(), tries()];
    first.begin();
    pass(1_000);
    second.begin();
    pass(24_000);
    // Of both that failed, the one that began earlier counts, whichever was noticed first.
    second.failed(undefined);
    assert.equal(third.begin(), 6_000);
    first.failed(undefined);
    assert.equal(third.begin(), 5_000);
    pass(5_000);
    assert.equal(third.begin(), 0);
    assert.equal(first.failed(undefined), undefined);
  });

  test('time in which nothing failed is not counted, and earlier failures are', () => {
    const { tries, pass } = start();
    const fine = tries();
    assert.equal(fine.begin(), Number.POSITIVE_INFINITY, 'the time-out of the target alone');
    pass(60_000);
    fine.end();
    const early = tries();
    early.begin();
    pass(1_000);
    assert.equal(early.failed(12_000), 12_000);
    pass(12_000);
    early.begin();
    pass(500);
    early.end();
    pass(60_000);
    const late = tries();
    assert.equal(late.begin(), 16_500);
    assert.equal(late.failed(16_500), undefined);
    assert.equal(late.failed(16_499), 16_499);
  });

  test('time that is counted for one is not counted again for another that failed in it', () => {
    const { tries, pass } = start();
    const [first, second] = [tries(), tries()];
    first.begin();
    second.begin();
    pass(8_000);
    first.failed(undefined);
    first.end();
    pass(1_000);
    second.failed(undefined);
    assert.equal(tries().begin(), 21_000);
  });
});

test('a circuit opens after three publishes that were not answered, and lets one through at a time [PUB-51]', () => {
  let now = 0;
  const breaker = createPublishBreaker({ failures: 3, openMs: 1_000 }, () => now);
  for (let n = 0; n < 2; n += 1) breaker.note(false);
  assert.equal(breaker.waitMs(), 0);
  breaker.note(false);
  assert.equal(breaker.waitMs(), 1_000);
  assert.equal(breaker.state(), 'open');
  now = 999;
  assert.equal(breaker.waitMs(), 1);
  now = 1_000;
  assert.equal(breaker.state(), 'probing');
  assert.equal(breaker.waitMs(), 0, 'the probe');
  assert.equal(breaker.waitMs(), 1_000, 'the others wait for it');
  breaker.note(true);
  assert.equal(breaker.waitMs(), 0);
  assert.equal(breaker.state(), 'closed');
});

test('a limit holds, in order, also when work fails [PUB-56]', async () => {
  const limit = createLimit(2);
  let [running, most] = [0, 0];
  const done: number[] = [];
  const work = (n: number) =>
    limit(async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
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

  const start = (write: (batch: StoredResource[]) => Promise<void>) => {
    const clock = { now: 0 };
    return { clock, ...createRecording(write, () => clock.now) };
  };

  test('what comes together is written together, and the rest at the end', async () => {
    const written: StoredResource[][] = [];
    const { clock, note, writeRest } = start(async (batch) => void written.push(batch));
    await note(item(1));
    assert.deepEqual(written, []);
    clock.now = 250;
    await note(item(2));
    await note(item(3));
    assert.deepEqual(written, [[item(1), item(2)]]);
    await writeRest();
    await writeRest();
    assert.deepEqual(written, [[item(1), item(2)], [item(3)]]);
  });

  test('what could not be written stays, and is written with the rest', async () => {
    const tried: StoredResource[][] = [];
    const { clock, note, writeRest } = start(async (batch) => {
      tried.push(batch);
      if (tried.length < 3) throw new Error('no');
    });
    clock.now = 250;
    await note(item(1));
    await note(item(2));
    await assert.rejects(writeRest());
    await writeRest();
    assert.deepEqual(tried, [[item(1)], [item(1), item(2)], [item(1), item(2)]]);
  });
});
