/** An order with all that belongs to it, as the internal model holds it (docs/adr/0040). */
import type { KeptObservation } from '../clinical/kept/fill-observation.fhir.ts';
import type { ReportRecord } from '../clinical/resources/diagnostic-report.fhir.ts';
import type { StudyRecord } from '../clinical/resources/imaging-study.fhir.ts';
import type { OrderRecord } from '../clinical/resources/service-request.fhir.ts';
import type { SpecimenRecord } from '../clinical/resources/specimen.fhir.ts';

export interface InvestigationRecord {
  order: OrderRecord;
  specimens: SpecimenRecord[];
  observations: KeptObservation[];
  reports: ReportRecord[];
  studies: StudyRecord[];
}
