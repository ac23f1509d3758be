/** An order with all that belongs to it, as the internal model holds it (docs/adr/0040). */
import type { KeptObservation } from '../clinical/kept/fill-observation.fhir.ts';
import type { ReportRecord } from '../clinical/resources/diagnostic-report.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { StudyRecord } from '../clinical/resources/imaging-study.fhir.ts';
import type { OrderRecord } from '../clinical/resources/service-request.fhir.ts';
import type { SpecimenRecord } from '../clinical/resources/specimen.fhir.ts';
import type { RecordName } from '../tenancy/record-names.ts';
import type { UnmappedPlace } from '../terminology/unmapped/record-unmapped.ts';

export interface InvestigationRecord {
  order: OrderRecord;
  specimens: SpecimenRecord[];
  observations: KeptObservation[];
  reports: ReportRecord[];
  studies: StudyRecord[];
}

/** Orders of other disciplines are stored, and not fetched. */
export type FetchedDiscipline = Exclude<Discipline, 'other'>;

/** Where the codes of a resource of an order count as unmapped. */
export function unmappedPlace(discipline: FetchedDiscipline): (resourceType: string) => UnmappedPlace {
  return (resourceType) => PLACES[discipline][resourceType] ?? OTHER_PLACES[discipline];
}

const PLACES: Readonly<Record<FetchedDiscipline, Readonly<Record<string, UnmappedPlace>>>> = {
  laboratory: { ServiceRequest: 'lab.order', DiagnosticReport: 'lab.report' },
  imaging: { ServiceRequest: 'imaging.order' },
};
const OTHER_PLACES = { laboratory: 'lab.result', imaging: 'imaging.report' } as const;

/** What messages call an order. */
export const ORDER_NAMES: Readonly<Record<Discipline, RecordName>> = {
  laboratory: 'The laboratory order',
  imaging: 'The imaging order',
  other: 'The order',
};
