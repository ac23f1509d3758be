/** What the parts that read share: records, a service that has just started, and the floor beside it. */
import type { Bench } from './bench.ts';
import { fillFinishedTexts } from './floors/finished-texts.ts';
import { inTurn, type Load } from './measure.ts';
import { NAMES, nameOf, recordId } from './records/ids.ts';
import {
  environmentOf,
  type LoadSize,
  openRecords,
  PLACE,
  type Records,
  sizeOf,
  spread,
} from './records/open-records.ts';
import { heavyPatients } from './records/people.ts';
import { type Running, startFloor, startService } from './service.ts';

export interface Reads {
  records: Records;
  service: Running;
  /** GET requests to the service, in turn. */
  of(paths: readonly string[]): Load;
  /** Floor (a). */
  floor: Load;
  /** Floor (e): the answers to these paths, asked for now. There is one table of them: the last call counts. */
  finished(paths: readonly string[]): Promise<Load>;
}

export interface ReadOptions {
  /** Patients and encounters; as many as the options say if not given. */
  records?: number;
  /** Of `interchange serve`. */
  serve?: readonly string[];
  /** Of Node.js, for the service. */
  flags?: readonly string[];
}

export async function withReads<T>(
  bench: Bench,
  { records: count = bench.options.records, serve = [], flags = [] }: ReadOptions,
  work: (reads: Reads) => Promise<T>,
): Promise<T> {
  const records = await openRecords(bench, sizeOf(count));
  const service = await startService(environmentOf(records.databaseUrl), serve, flags);
  try {
    const floor = await startFloor(records.databaseUrl, PLACE);
    try {
      return await work(readsOf(records, service, floor));
    } finally {
      await floor.stop();
    }
  } finally {
    await service.stop();
  }
}

function readsOf(records: Records, service: Running, floor: Pick<Running, 'url'>): Reads {
  const { databaseUrl, size, token } = records;
  const headers = { authorization: `Bearer ${token}` };
  return {
    records,
    service,
    of: (paths) => ({ url: service.url, headers, next: inTurn(paths) }),
    floor: {
      url: floor.url,
      next: inTurn(spread(size.encounters).map((n) => `/encounter/${recordId('encounter', n)}`)),
    },
    finished: async (paths) => ({
      url: floor.url,
      next: inTurn(await fillFinishedTexts({ databaseUrl, serviceUrl: service.url, headers }, paths)),
    }),
  };
}

const API = '/api/v1';
const ENCOUNTER = `${API}/encounters/fhir/Encounter`;

export function encounterReads({ encounters }: LoadSize, count?: number): string[] {
  return spread(encounters, count).map(
    (n) => `${ENCOUNTER}/${recordId('encounter', n)}?purposeOfUse=TREATMENT`,
  );
}

/** First pages of 20, of patients who have more. */
export function encounterSearches(size: LoadSize, count?: number): string[] {
  return spread(heavyPatients(size), count).map(
    (n) => `${ENCOUNTER}?patient=${recordId('patient', n)}&purposeOfUse=TREATMENT&_count=20`,
  );
}

export function patientReads({ patients }: LoadSize, count?: number): string[] {
  return spread(patients, count).map((n) => `${API}/patients/base/${recordId('patient', n)}`);
}

/** First pages of 20, by four to six letters: each finds a fiftieth to a five-hundredth of the patients. */
export function patientSearches(): string[] {
  return spread(NAMES).map((n) => `${API}/patients/base?search=${nameOf(n).slice(0, 4 + (n % 3))}&limit=20`);
}

export function labOrders(from: number, to: number): string[] {
  return Array.from(
    { length: to - from + 1 },
    (_, index) => `${API}/investigations/lab/orders/${recordId('labOrder', from + index)}/clinical/fhir`,
  );
}

export function imagingOrders({ orders }: LoadSize): string[] {
  return spread(orders).map(
    (n) => `${API}/investigations/imaging/orders/${recordId('imagingOrder', n)}/clinical/fhir`,
  );
}

export function vitalSets({ orders }: LoadSize): string[] {
  return spread(orders).map((n) => `${API}/encounters/vitals/${recordId('vitalSet', n)}/clinical/fhir`);
}
