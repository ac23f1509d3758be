import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayAfterFailures, parseRetryAfter, spreadDelay } from './backoff.ts';

test('delays double with each failure, up to the longest', () => {
  const delay = { firstMs: 250, maxMs: 8_000 };
  assert.deepEqual(
    [1, 2, 3, 6, 7, 50].map((failures) => delayAfterFailures(delay, failures)),
    [250, 500, 1_000, 8_000, 8_000, 8_000],
  );
});

test('a delay is spread between two parts of it', () => {
  const part = { from: 0.5, to: 1.5 };
  assert.deepEqual(
    [0, 0.5, 0.75].map((random) => spreadDelay(100, part, random)),
    [50, 100, 125],
  );
});

test('retry-after: seconds, or a date; anything else is nothing', () => {
  const now = new Date('2026-01-10T08:00:00Z');
  assert.equal(parseRetryAfter('7', now), 7_000);
  assert.equal(parseRetryAfter(' 0 ', now), 0);
  assert.equal(parseRetryAfter('Sat, 10 Jan 2026 08:00:30 GMT', now), 30_000);
  assert.equal(parseRetryAfter('Sat, 10 Jan 2026 07:00:00 GMT', now), 0);
  assert.equal(parseRetryAfter('Saturday, 10-Jan-26 08:00:30 GMT', now), 30_000);
  // In UTC, whatever the time zone of this machine.
  const zone = process.env.TZ;
  process.env.TZ = 'Pacific/Apia';
  assert.equal(parseRetryAfter('Sat Jan 10 08:00:30 2026', now), 30_000);
  assert.equal(parseRetryAfter('Sat Jan  3 08:00:30 2026', now), 0);
  assert.equal(parseRetryAfter('Sat, 10 Jan 2026 08:00:30', now), undefined);
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  for (const value of ['try again in 3600', 'sec 120', 'Sat, 99 Jan 2026 08:00:30 GMT'])
    assert.equal(parseRetryAfter(value, now), undefined, value);
  for (const value of [undefined, '', 'soon', '-3', '1.5'])
    assert.equal(parseRetryAfter(value, now), undefined, String(value));
});

test('retry-after: what is longer than 2^31 - 1 seconds is taken for that [EXC-17]', () => {
  const now = new Date('2026-01-10T08:00:00Z');
  const longestMs = 2_147_483_647_000;
  assert.equal(parseRetryAfter('2147483647', now), longestMs);
  for (const value of ['2147483648', '9'.repeat(14), '9'.repeat(400), 'Sun, 21 Oct 2096 07:28:00 GMT'])
    assert.equal(parseRetryAfter(value, now), longestMs, value);
});
