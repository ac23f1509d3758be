/** Encounter read and Encounter search (page of 20), beside the floor. */

import { type Measurement, measure, median } from '../measure.ts';
import { encounterId, heavyPatients, type LoadSize, patientId } from '../records/load-records.ts';

const CONNECTIONS = 64;
const PATHS = 4_000;

export interface EncounterBench {
  serviceUrl: string;
  token: string;
  floorUrl: string;
  size: LoadSize;
  seconds: number;
  rounds: number;
}

export async function benchEncounters(bench: EncounterBench, say: (line: string) => void): Promise<void> {
  const headers = { authorization: `Bearer ${bench.token}` };
  const base = '/api/v1/encounters/fhir/Encounter';
  const ids = sample(bench.size.encounters).map(encounterId);
  const searched = sample(heavyPatients(bench.size)).map(patientId);
  const loads = {
    floor: { url: bench.floorUrl, paths: ids.map((id) => `/${id}`) },
    read: { url: bench.serviceUrl, headers, paths: ids.map((id) => `${base}/${id}?purposeOfUse=TREATMENT`) },
    search: {
      url: bench.serviceUrl,
      headers,
      paths: searched.map((id) => `${base}?patient=${id}&purposeOfUse=TREATMENT&_count=20`),
    },
  };
  const results: Record<keyof typeof loads, Measurement[]> = { floor: [], read: [], search: [] };
  const names = ['floor', 'read', 'search'] as const;
  for (const name of names) await measure({ ...loads[name], seconds: 3, connections: CONNECTIONS });
  for (let round = 1; round <= bench.rounds; round += 1)
    for (const name of names) {
      const result = await measure({ ...loads[name], seconds: bench.seconds, connections: CONNECTIONS });
      results[name].push(result);
      say(`round ${round} ${name.padEnd(6)} ${describe(result)}`);
    }
  say('\nmedian of the rounds; ratios are taken within each round');
  for (const name of names) {
    const ratios = results[name].map(
      ({ requestsPerSecond }, round) => requestsPerSecond / floorOf(results.floor, round),
    );
    const ratio = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
    say(`${name.padEnd(6)} ${describe(median(results[name]))}   ${ratio.toFixed(2)} of the floor`);
  }
}

/** Paths that the floor answers. */
export function floorPaths(size: LoadSize): string[] {
  return sample(size.encounters).map((number) => `/${encounterId(number)}`);
}

function floorOf(floor: readonly Measurement[], round: number): number {
  return floor[round]?.requestsPerSecond ?? Number.NaN;
}

export function describe({ requestsPerSecond, p99, failures }: Measurement): string {
  const failed = failures === 0 ? '' : `   ${failures} FAILED`;
  return `${String(requestsPerSecond).padStart(7)} requests/s   p99 ${String(p99).padStart(4)} ms${failed}`;
}

/** Numbers from 1 to `max`, spread evenly and in no order that a cache could like. */
function sample(max: number): number[] {
  return Array.from({ length: PATHS }, (_, index) => 1 + ((index * 7_919) % PATHS) * Math.floor(max / PATHS));
}
