/** `interchange serve --processes 2` beside one process, on the same database. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe } from '../measure.ts';
import { encounterReads, encounterSearches, type Reads, withReads } from '../reads.ts';
import { times } from '../report.ts';

export const processes: Part = {
  name: 'processes',
  summary: 'two processes beside one: Encounter read and search',
  measure: (bench) =>
    withReads(bench, {}, (one) =>
      withReads(bench, { serve: ['--processes', '2'] }, (two) => measureProcesses(bench, one, two)),
    ),
};

async function measureProcesses(bench: Bench, one: Reads, two: Reads): Promise<Row[]> {
  const [reads, searches] = [encounterReads(one.records.size), encounterSearches(one.records.size)];
  const result = await compare(bench, {
    'read, one': load(one.of(reads)),
    'read, two': load(two.of(reads)),
    'search, one': load(one.of(searches)),
    'search, two': load(two.of(searches)),
  });
  return (['read', 'search'] as const).map((name) => ({
    what: `Encounter ${name}, two processes`,
    measured: describe(result.of(`${name}, two`)),
    reached: `${times(result.ratio(`${name}, two`, `${name}, one`))} of one`,
    aim: '1.0 of one',
  }));
}
