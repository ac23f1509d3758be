/**
 * Processor time of one call of each kind, of the service and of PostgreSQL. Other work on the machine changes it far less
 * than a rate, so that docs/scaling.md computes with it.
 */
import type { Bench, Part, Row } from '../bench.ts';
import { serverCpu } from '../cpu.ts';
import { type Load, measure, wholeNumber } from '../measure.ts';
import {
  encounterReads,
  encounterSearches,
  imagingOrders,
  labOrders,
  patientReads,
  patientSearches,
  type Reads,
  vitalSets,
  withReads,
} from '../reads.ts';
import { loginsOf } from './logins.ts';
import { firstTokens, refreshesOf } from './refresh.ts';

export const costs: Part = {
  name: 'costs',
  summary: 'processor time of one call of each kind',
  measure: (bench) => withReads(bench, {}, (reads) => measureCosts(bench, reads)),
};

interface Kind {
  what: string;
  load: Load;
  /** Calls that are counted, after a tenth as many that are not. */
  calls: number;
}

async function measureCosts(bench: Bench, reads: Reads): Promise<Row[]> {
  const databaseCpu = await serverCpu(bench.serverUrl);
  const rows: Row[] = [];
  for (const { what, load, calls } of await kindsOf(reads)) {
    await measure(load, { requests: Math.ceil(calls / 10) });
    const before = [await reads.service.cpuMs(), await databaseCpu()];
    await measure(load, { requests: calls });
    const after = [await reads.service.cpuMs(), await databaseCpu()];
    const [service = Number.NaN, database = Number.NaN] = after.map(
      (ms, index) => ((ms ?? Number.NaN) - (before[index] ?? Number.NaN)) / calls,
    );
    const measured = `service ${service.toFixed(2)} ms, PostgreSQL ${database.toFixed(2)} ms`;
    bench.say(`${what}: ${measured}`);
    rows.push({ what, measured, reached: `${wholeNumber(1_000 / (service + database))}/s a core`, aim: '' });
  }
  return rows;
}

/** Calls of the reads that are asked for again and again; fewer where one takes long. */
const [MANY, SOME] = [20_000, 1_000];
/** Orders that warm the process up; no other is asked for twice. */
const WARM = 200;

async function kindsOf({ records: { size, databaseUrl }, service, of }: Reads): Promise<Kind[]> {
  const tokens = await firstTokens(databaseUrl);
  return [
    { what: 'Encounter read', load: of(encounterReads(size)), calls: MANY },
    { what: 'Encounter search, page of 20', load: of(encounterSearches(size)), calls: MANY / 2 },
    {
      what: 'Laboratory order with 40 results, each once',
      load: of(labOrders(1, size.orders)),
      calls: Math.min(size.orders - WARM, WARM * 9),
    },
    { what: 'Imaging order, again', load: of(imagingOrders(size)), calls: MANY },
    { what: 'Vital set of six, again', load: of(vitalSets(size)), calls: MANY },
    { what: 'Patient read', load: of(patientReads(size)), calls: MANY },
    { what: 'Patient search by name start', load: of(patientSearches()), calls: SOME },
    { what: 'Login', load: await loginsOf(databaseUrl, service.url), calls: SOME / 5 },
    { what: 'Refresh', load: refreshesOf(service.url, tokens), calls: SOME * 3 },
  ];
}
