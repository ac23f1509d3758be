/** Encounter read and Encounter search. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe } from '../measure.ts';
import { encounterReads, encounterSearches, type Reads, withReads } from '../reads.ts';
import { times } from '../report.ts';

/** Pages whose finished text floor (e) has. */
const PAGES = 500;

export const encounters: Part = {
  name: 'encounters',
  summary: 'Encounter read; Encounter search, page of 20',
  measure: (bench) => withReads(bench, {}, (reads) => measureEncounters(bench, reads)),
};

async function measureEncounters(bench: Bench, { records, of, floor, finished }: Reads): Promise<Row[]> {
  const { size } = records;
  const result = await compare(bench, {
    a: load(floor),
    read: load(of(encounterReads(size))),
    e: load(await finished(encounterSearches(size, PAGES))),
    search: load(of(encounterSearches(size))),
  });
  return [
    { what: 'Floor (a)', measured: describe(result.of('a')), reached: '', aim: '' },
    {
      what: 'Encounter read',
      measured: describe(result.of('read')),
      reached: `${times(result.ratio('read', 'a'))} of (a), p99 ${times(result.p99Ratio('read', 'a'))} times (a)'s`,
      aim: "1.0 of (a), p99 at most 2 times (a)'s",
    },
    {
      what: 'Encounter search, page of 20',
      measured: describe(result.of('search')),
      reached: `${times(result.ratio('search', 'a'))} of (a), ${times(result.ratio('search', 'e'))} of (e)`,
      aim: '0.50 of (a), 0.75 of (e)',
    },
  ];
}
