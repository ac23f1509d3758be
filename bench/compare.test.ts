import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compare, comparison } from './compare.ts';
import { describe as inWords, median, middle, wholeNumber } from './measure.ts';
import { readOptions } from './options.ts';

const measured = (perSecond: number, p99Ms = 0) => ({ perSecond, p50Ms: 1, p99Ms });

describe('comparing', () => {
  test('ratios are taken within each round, and the middle one counts', () => {
    const rounds = [
      { floor: measured(1_000, 10), read: measured(500, 20) },
      { floor: measured(100, 40), read: measured(90, 40) },
      { floor: measured(500, 10), read: measured(300, 30) },
    ];
    const result = comparison(rounds);
    assert.equal(result.ratio('read', 'floor'), 0.6);
    assert.equal(result.p99Ratio('read', 'floor'), 2);
    assert.equal(result.of('floor').perSecond, 500);
  });

  test('answers faster than a millisecond count as one', () => {
    const result = comparison([{ floor: measured(1, 0), read: measured(1, 2) }]);
    assert.equal(result.p99Ratio('read', 'floor'), 2);
  });

  test('every step runs in a warm-up that does not count, and in each round', async () => {
    const options = readOptions(['--rounds', '2', '--seconds', '9'], []);
    const seen: string[] = [];
    const step =
      (name: string) =>
      async ({ number, seconds }: { number: number; seconds: number }) => {
        seen.push(`${name} ${number} ${seconds}`);
        return measured(number + 1);
      };
    const result = await compare({ options, say: () => undefined }, { a: step('a'), b: step('b') });
    assert.deepEqual(seen, ['a 0 2', 'b 0 2', 'a 1 9', 'b 1 9', 'a 2 9', 'b 2 9']);
    assert.equal(result.of('a').perSecond, 3);
  });
});

describe('measurements', () => {
  test('median and middle', () => {
    assert.equal(median([measured(3), measured(1), measured(2)]).perSecond, 2);
    assert.throws(() => median([]), { message: 'Nothing was measured.' });
    assert.equal(middle([5, 1, 3]), 3);
  });

  test('in words', () => {
    assert.equal(inWords(measured(10_123.4, 13)), '10,123/s, p50 1 ms, p99 13 ms');
    assert.equal(inWords(measured(770)), '770/s');
    assert.equal(wholeNumber(9.87), '9.9');
  });
});
