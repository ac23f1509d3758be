import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGood } from './ledger.ts';
import { growthOf, judgeMemory, type Sample } from './memory.ts';
import { createRandom } from './random.ts';

const samples = (mbAt: (seconds: number) => number): Sample[] =>
  Array.from({ length: 600 }, (_, seconds) => ({ seconds, mb: mbAt(seconds) }));

test('a heap that breathes is flat', () => {
  const random = createRandom(1, 'memory');
  assert.ok(
    isGood(
      judgeMemory(
        'x',
        samples(() => 150),
      ),
    ),
  );
  assert.ok(
    isGood(
      judgeMemory(
        'x',
        samples((seconds) => 150 + 10 * Math.sin(seconds / 20)),
      ),
    ),
  );
  assert.ok(
    isGood(
      judgeMemory(
        'x',
        samples(() => 150 + random.between(0, 25)),
      ),
    ),
  );
  // Freed at once, once.
  assert.ok(
    isGood(
      judgeMemory(
        'x',
        samples((seconds) => (seconds < 30 ? 200 : 150)),
      ),
    ),
  );
});

test('memory that is taken once is no leak', () => {
  for (const at of [50, 150, 250, 400, 590])
    assert.ok(
      isGood(
        judgeMemory(
          'x',
          samples((seconds) => (seconds < at ? 190 : 250)),
        ),
      ),
      String(at),
    );
  const seen = [
    246, 188, 186, 189, 188, 188, 189, 189, 204, 245, 248, 247, 248, 245, 246, 247, 247, 246, 244, 244,
  ];
  assert.ok(
    isGood(
      judgeMemory(
        'x',
        seen.map((mb, index) => ({ seconds: 2.5 * index, mb })),
      ),
    ),
  );
});

test('a heap that leaks is not, however it breathes', () => {
  const leak = judgeMemory(
    'x',
    samples((seconds) => 150 + seconds / 10),
  );
  assert.ok(!isGood(leak));
  assert.ok(Math.abs(leak.growth.growthMb - 60) < 1, String(leak.growth.growthMb));
  const breathing = judgeMemory(
    'x',
    samples((seconds) => 150 + seconds / 10 + (seconds % 40) / 4),
  );
  assert.ok(!isGood(breathing));
});

test('a process that was never seen is no flat one', () => {
  assert.ok(!isGood(judgeMemory('x', [])));
});

test('growth is over the time of the samples', () => {
  const { meanMb, growthMb } = growthOf(samples((seconds) => 100 + seconds / 599));
  assert.ok(Math.abs(growthMb - 1) < 0.02 && Math.abs(meanMb - 100.5) < 0.01);
});
