/** Patient read, as the service's own JSON and as FHIR, and patient search by the start of a name. */
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe } from '../measure.ts';
import { patientReads, patientSearches, type Reads, withReads } from '../reads.ts';
import { times } from '../report.ts';

export const patients: Part = {
  name: 'patients',
  summary: 'patient read; FHIR Patient; patient search by the start of a name',
  measure: (bench) => withReads(bench, {}, (reads) => measurePatients(bench, reads)),
};

async function measurePatients(bench: Bench, { records, of, floor }: Reads): Promise<Row[]> {
  const reads = patientReads(records.size);
  const result = await compare(bench, {
    a: load(floor),
    read: load(of(reads)),
    fhir: load(of(reads.map((path) => `${path}/clinical/fhir`))),
    search: load(of(patientSearches())),
  });
  const row = (what: string, name: 'read' | 'fhir' | 'search', aim: string): Row => ({
    what,
    measured: describe(result.of(name)),
    reached: `${times(result.ratio(name, 'a'))} of (a)`,
    aim,
  });
  return [
    row('Patient read', 'read', '0.8 of (a)'),
    row('Patient read as FHIR', 'fhir', '0.8 of (a)'),
    row(
      `Patient search by name start, ${records.size.patients.toLocaleString('en')} patients`,
      'search',
      '0.5 of (a)',
    ),
  ];
}
