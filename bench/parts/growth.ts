/** The same reads with 10,000 encounters and with all: how cost grows with data. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load, type Step } from '../compare.ts';
import { wholeNumber } from '../measure.ts';
import {
  encounterReads,
  encounterSearches,
  labOrders,
  patientReads,
  patientSearches,
  type Reads,
  withReads,
} from '../reads.ts';
import { times } from '../report.ts';

const FEW = 10_000;
/** As many distinct paths of each kind on both sides, so that nothing but the size of the tables differs. */
const PATHS = 150;

export const growth: Part = {
  name: 'growth',
  summary: 'the same reads at 10,000 and at all encounters',
  measure: (bench) =>
    withReads(bench, { records: FEW }, (few) =>
      withReads(bench, {}, (all) => measureGrowth(bench, few, all)),
    ),
};

async function measureGrowth(bench: Bench, few: Reads, all: Reads): Promise<Row[]> {
  const before = stepsOf(few);
  const steps: Record<string, Step> = {};
  for (const [name, step] of Object.entries(stepsOf(all))) {
    steps[`${name}, few`] = before[name as Kind];
    steps[`${name}, all`] = step;
  }
  const result = await compare(bench, steps);
  return Object.keys(before).map((name) => {
    const [small, large] = [`${name}, few`, `${name}, all`];
    return {
      what: `${name} at ${FEW.toLocaleString('en')} and ${all.records.size.encounters.toLocaleString('en')}`,
      measured: `${wholeNumber(result.of(small).perSecond)}/s and ${wholeNumber(result.of(large).perSecond)}/s`,
      reached: `${times(result.ratio(small, large))} times`,
      aim: 'within 1.15 times',
    };
  });
}

type Kind = keyof ReturnType<typeof stepsOf>;

function stepsOf({ records: { size }, of }: Reads) {
  return {
    'Encounter read': load(of(encounterReads(size, PATHS))),
    'Encounter search': load(of(encounterSearches(size, PATHS))),
    'Laboratory order, again': load(of(labOrders(1, PATHS))),
    'Patient read': load(of(patientReads(size, PATHS))),
    'Patient search': load(of(patientSearches())),
  };
}
