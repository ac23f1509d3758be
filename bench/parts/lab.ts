/**
 * Fetch of a laboratory order with 40 results, of which a tenth has local codes that are mapped. A partner fetches an
 * order once: the rate that counts is of orders that the process has not answered before. What PostgreSQL has read is
 * in its memory by then.
 */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe, measure } from '../measure.ts';
import { labOrders, type Reads, withReads } from '../reads.ts';
import { times } from '../report.ts';

/** Orders that warm the process up, are fetched again and again, and whose finished text floor (e) has. */
const WARM = 400;

export const lab: Part = {
  name: 'lab',
  summary: 'fetch of a laboratory order with 40 results: each order once, and again',
  measure: (bench) => withReads(bench, {}, (reads) => measureLab(bench, reads)),
};

async function measureLab(bench: Bench, { records, of, floor, finished }: Reads): Promise<Row[]> {
  const warm = labOrders(1, WARM);
  const each = Math.floor((records.size.orders - WARM) / bench.options.rounds);
  const result = await compare(bench, {
    a: load(floor),
    e: load(await finished(warm)),
    again: load(of(warm)),
    once: ({ number, seconds }) => {
      if (number === 0) return measure(of(warm), { seconds });
      const first = WARM + (number - 1) * each + 1;
      return measure(of(labOrders(first, first + each - 1)), { requests: each });
    },
  });
  return [
    {
      what: 'Laboratory order with 40 results, each order once',
      measured: describe(result.of('once')),
      reached: `${times(result.ratio('once', 'a'))} of (a), ${times(result.ratio('once', 'e'))} of (e)`,
      aim: '0.30 of (a), 0.6 of (e)',
    },
    {
      what: 'The same 400 orders again',
      measured: describe(result.of('again')),
      reached: `${times(result.ratio('again', 'a'))} of (a), ${times(result.ratio('again', 'e'))} of (e)`,
      aim: '',
    },
  ];
}
