/** Fetch of a vital set of six, and of an imaging order with its report and study; each in turn, again and again. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe } from '../measure.ts';
import { imagingOrders, type Reads, vitalSets, withReads } from '../reads.ts';
import { times } from '../report.ts';

export const fetches: Part = {
  name: 'fetches',
  summary: 'fetch of a vital set of six; of an imaging order',
  measure: (bench) => withReads(bench, {}, (reads) => measureFetches(bench, reads)),
};

async function measureFetches(bench: Bench, { records, of, floor }: Reads): Promise<Row[]> {
  const result = await compare(bench, {
    a: load(floor),
    vitals: load(of(vitalSets(records.size))),
    imaging: load(of(imagingOrders(records.size))),
  });
  const row = (what: string, name: 'vitals' | 'imaging'): Row => ({
    what,
    measured: describe(result.of(name)),
    reached: `${times(result.ratio(name, 'a'))} of (a)`,
    aim: '0.8 of (a)',
  });
  return [row('Vital set of six', 'vitals'), row('Imaging order', 'imaging')];
}
