/** An order with all that belongs to it, as the internal model holds it (docs/adr/0040). */
import type { KeptObservation } from '../clinical/kept/fill-observation.fhir.ts';
import type { ReportRecord } from '../clinical/resources/diagnostic-report.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { StudyRecord } from '../clinical/resources/imaging-study.fhir.ts';
import type { OrderRecord } from '../clinical/resources/service-request.fhir.ts';
import type { SpecimenRecord } from '../clinical/resources/specimen.fhir.ts';
import type { RecordName } from '../tenancy/record-names.ts';

export interface InvestigationRecord {
  order: OrderRecord;
  specimens: SpecimenRecord[];
  observations: KeptObservation[];
  reports: ReportRecord[];
  studies: StudyRecord[];
}

/** What messages call an order. */
export const ORDER_NAMES: Readonly<Record<Discipline, RecordName>> = {
  laboratory: 'The laboratory order',
  imaging: 'The imaging order',
  other: 'The order',
};
