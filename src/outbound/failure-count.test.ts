import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createFailureCount } from './failure-count.ts';

describe('failure count', () => {
  test('asks to open after so many lanes failed in a row, or so many tries did not reach it', () => {
    const lanes = createFailureCount({ failures: 5 });
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e'].map((lane) => lanes.note('failing', lane)),
      [false, false, false, false, true],
    );
    const same = createFailureCount({ failures: 5 });
    assert.ok(Array.from({ length: 100 }, () => same.note('failing', 'a')).every((open) => !open));
    const unreachable = createFailureCount({ failures: 5 });
    assert.deepEqual(
      Array.from({ length: 5 }, () => unreachable.note('unreachable', 'a')),
      [false, false, false, false, true],
    );
  });

  test('starts anew with every sign of life', () => {
    const sign = fc.constantFrom('up' as const, 'failing' as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(sign, fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'))), (signs) => {
        const count = createFailureCount({ failures: 5 });
        const failing = new Set<string>();
        for (const [one, lane] of signs) {
          if (one === 'up') failing.clear();
          else failing.add(lane);
          assert.equal(count.note(one, lane), one !== 'up' && failing.size >= 5);
        }
      }),
    );
  });
});
