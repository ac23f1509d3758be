import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideRetry, outcomeOfStatus, retryDelay } from './decide-retry.ts';
import { DELIVERY } from './delivery-settings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('retry schedule', () => {
  test('is 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, each within 20 %, and then held [EXC-16]', () => {
    const schedule = [5_000, 30_000, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
    for (const [index, delay] of schedule.entries()) {
      const at = (random: number) =>
        retryDelay(DELIVERY.retry, index + 1, { retryAfterMs: undefined, random });
      assert.equal(at(0.5), delay);
      assert.equal(at(0), delay * 0.8);
      assert.ok((at(0.999_999) ?? 0) <= delay * 1.2 && (at(0.999_999) ?? 0) > delay * 1.19);
    }
    assert.equal(retryDelay(DELIVERY.retry, 9, { retryAfterMs: undefined, random: 0.5 }), undefined);
    assert.equal(retryDelay(DELIVERY.retry, 9, { retryAfterMs: 1_000, random: 0.5 }), undefined);
  });

  test('waits as long as retry-after asks, and never less than the schedule [EXC-17]', () => {
    assert.equal(retryDelay(DELIVERY.retry, 1, { retryAfterMs: 90_000, random: 0.5 }), 90_000);
    assert.equal(retryDelay(DELIVERY.retry, 2, { retryAfterMs: 1_000, random: 0.5 }), 30_000);
    assert.equal(retryDelay(DELIVERY.retry, 1, { retryAfterMs: 1e12, random: 0.5 }), 24 * HOUR);
  });
});

describe('meaning of a status', () => {
  test('is final for a 4xx other than 401, 403, 404, 408, 409, 425 and 429 [EXC-18]', () => {
    const retried = new Set([401, 403, 404, 408, 409, 425, 429]);
    for (let status = 100; status < 600; status += 1) {
      const expected =
        status >= 200 && status < 300
          ? 'delivered'
          : status >= 400 && status < 500 && !retried.has(status)
            ? 'refused'
            : 'failed';
      assert.equal(outcomeOfStatus(status), expected, String(status));
    }
  });

  test('holds what is refused at once, and what failed after the last retry', () => {
    const by = { attempts: 0, counted: true, retry: DELIVERY.retry, random: 0.5 };
    const answered = (status: number) => ({
      kind: 'answered' as const,
      status,
      retryAfterMs: undefined,
      responseHash: Buffer.alloc(32),
    });
    assert.deepEqual(decideRetry(answered(204), by).next, { kind: 'advance' });
    assert.deepEqual(decideRetry(answered(422), by).next, { kind: 'hold', reason: 'refused_422' });
    assert.deepEqual(decideRetry(answered(503), by).next, { kind: 'retry', afterMs: 5_000 });
    assert.deepEqual(decideRetry(answered(301), by).next, { kind: 'retry', afterMs: 5_000 });
    assert.deepEqual(decideRetry(answered(503), { ...by, attempts: 7 }).next, {
      kind: 'retry',
      afterMs: 36_000_000,
    });
    assert.deepEqual(decideRetry(answered(503), { ...by, attempts: 8 }).next, {
      kind: 'hold',
      reason: 'retries_exhausted',
    });
    assert.deepEqual(decideRetry(answered(503), { ...by, attempts: 8, counted: false }).next, {
      kind: 'retry',
      afterMs: 5_000,
    });
    const lost = decideRetry({ kind: 'unanswered', code: 'ECONNRESET', reached: true }, by);
    assert.deepEqual(
      [lost.outcome, lost.failure, lost.health, lost.next],
      ['failed', 'ECONNRESET', 'failing', { kind: 'retry', afterMs: 5_000 }],
    );
    assert.equal(
      decideRetry({ kind: 'unanswered', code: 'ECONNREFUSED', reached: false }, by).health,
      'unreachable',
    );
    assert.equal(decideRetry(answered(409), by).health, 'up', 'a conflict says that the exchange is up');
  });
});
