import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CpuProfile, flameGraph } from './flame-graph.ts';

const SRC = new URL('../src/', import.meta.url).href;
const node = (id: number, functionName: string, url = '', children: number[] = []) => ({
  id,
  callFrame: { functionName, url },
  children,
});

/** 60 µs of `read`, 20 of them in `<render>`, and 20 µs of garbage; 100 µs in which nothing was to be done. */
const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 4, 5]),
    node(2, 'read', `${SRC}a.ts`, [3]),
    node(3, '<render>', `${SRC}b.ts`),
    node(4, '(garbage collector)'),
    node(5, '(idle)'),
  ],
  startTime: 1_000,
  samples: [2, 3, 5, 4, 2],
  timeDeltas: [20, 20, 100, 20, 20],
};

/** Title and width of each frame. */
function frames(svg: string): [title: string | undefined, width: number][] {
  return Array.from(
    svg.matchAll(/<title>(.*?)<\/title><rect [^>]*?width="([\d.]+)"/g),
    ([, title, width]) => [title, Number(width)],
  );
}

describe('flame graph', () => {
  test('a frame is as wide as its share of the work; waiting is none', () => {
    assert.deepEqual(frames(flameGraph(PROFILE, { title: 'reads' })), [
      ['all, 100.0%', 1_200],
      ['read src/a.ts, 75.0%', 900],
      ['&lt;render&gt; src/b.ts, 25.0%', 300],
      ['garbage collection, 25.0%', 300],
    ]);
  });

  test('what ran before is left out', () => {
    const [, ...below] = frames(flameGraph(PROFILE, { title: 'reads', fromUs: 1_160 }));
    assert.deepEqual(below, [
      ['read src/a.ts, 50.0%', 600],
      ['garbage collection, 50.0%', 600],
    ]);
  });

  test('a frame too narrow to be seen is left out', () => {
    const timeDeltas = [20_000, 20, 100, 20, 20];
    const titles = frames(flameGraph({ ...PROFILE, timeDeltas }, { title: 'reads' })).map(([title]) => title);
    assert.deepEqual(titles, ['all, 100.0%', 'read src/a.ts, 99.9%']);
  });

  test('has the title, and draws an empty profile', () => {
    const svg = flameGraph({ ...PROFILE, samples: [], timeDeltas: [] }, { title: 'reads & pages' });
    assert.match(svg, /reads &amp; pages/);
    assert.deepEqual(frames(svg), []);
  });
});
