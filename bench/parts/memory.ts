/** Resident memory of the service while it is read from. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { encounterReads, encounterSearches, labOrders, type Reads, withReads } from '../reads.ts';

export const memory: Part = {
  name: 'memory',
  summary: 'resident memory of the service under read load',
  measure: (bench) => withReads(bench, {}, (reads) => measureMemory(bench, reads)),
};

async function measureMemory(bench: Bench, { records: { size }, of, service }: Reads): Promise<Row[]> {
  const { nowMb: before } = await service.memory();
  await compare(bench, {
    'Encounter read': load(of(encounterReads(size))),
    'Encounter search': load(of(encounterSearches(size))),
    'laboratory order': load(of(labOrders(1, size.orders))),
  });
  const { nowMb, peakMb } = await service.memory();
  return [
    {
      what: 'Resident memory of the service under read load',
      measured: `before ${inMb(before)}, after ${inMb(nowMb)}`,
      reached: `at most ${inMb(peakMb)}`,
      aim: 'under 250 MB',
    },
  ];
}

export function inMb(megabytes: number | undefined): string {
  return megabytes === undefined ? 'not known here' : `${megabytes} MB`;
}
