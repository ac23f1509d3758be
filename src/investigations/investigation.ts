/** Laboratory and imaging orders, reports and studies as the internal model holds them (docs/adr/0040). */

import type {
  Annotation,
  ObservationRecord,
  RecordPointer,
  Timing,
} from '../clinical/observations/observation.ts';
import type { CodeableConcept, Coding, Identifier } from '../fhir/coded.ts';

export type Discipline = 'laboratory' | 'imaging' | 'other';

export interface OrderRecord {
  id: string;
  patientId: string;
  encounterId?: string;
  encounterDisplay?: string;
  discipline: Discipline;
  /** The source had no order: this one stands for its report, results or study. */
  madeUp: boolean;
  status: 'draft' | 'active' | 'on-hold' | 'revoked' | 'completed' | 'entered-in-error' | 'unknown';
  intent: string;
  priority?: string;
  doNotPerform?: boolean;
  identifier?: Identifier[];
  requisition?: Identifier;
  category?: CodeableConcept[];
  code?: CodeableConcept;
  orderDetail?: CodeableConcept[];
  basedOn?: RecordPointer[];
  replaces?: RecordPointer[];
  occurrenceType?: 'dateTime' | 'Period' | 'Timing';
  occurrenceStart?: string;
  occurrenceEnd?: string;
  occurrenceTiming?: Timing;
  asNeeded?: boolean;
  asNeededFor?: CodeableConcept;
  authored?: string;
  requester?: RecordPointer;
  performerType?: CodeableConcept;
  performer?: RecordPointer[];
  locationCode?: CodeableConcept[];
  location?: RecordPointer[];
  reasonCode?: CodeableConcept[];
  reasonReference?: RecordPointer[];
  bodySite?: CodeableConcept[];
  specimen?: RecordPointer[];
  note?: Annotation[];
  patientInstruction?: string;
}

export type ReportStatus =
  | 'registered'
  | 'partial'
  | 'preliminary'
  | 'final'
  | 'amended'
  | 'corrected'
  | 'appended'
  | 'cancelled'
  | 'entered-in-error'
  | 'unknown';

/** The whole report as a document. */
export interface DocumentRecord {
  mediaType: string;
  language?: string;
  title?: string;
  created?: string;
  url?: string;
  sizeBytes?: number;
  /** Base64, as the source gave it. */
  sha1?: string;
  /** Base64. */
  content?: string;
}

export interface ReportRecord {
  id: string;
  patientId: string;
  encounterId?: string;
  encounterDisplay?: string;
  discipline: Discipline;
  status: ReportStatus;
  identifier?: Identifier[];
  basedOn?: RecordPointer[];
  category?: CodeableConcept[];
  code: CodeableConcept;
  effectiveType?: 'dateTime' | 'Period';
  effectiveStart?: string;
  effectiveEnd?: string;
  issued?: string;
  performer?: RecordPointer[];
  resultsInterpreter?: RecordPointer[];
  specimen?: RecordPointer[];
  imagingStudy?: RecordPointer[];
  conclusion?: string;
  conclusionCode?: CodeableConcept[];
  results?: { observationId?: string; display?: string }[];
  documents?: DocumentRecord[];
}

export interface InstanceRecord {
  uid: string;
  sopClass: Coding;
  number?: number;
  title?: string;
}

export interface SeriesRecord {
  uid: string;
  number?: number;
  modality: Coding;
  description?: string;
  numberOfInstances?: number;
  bodySite?: Coding;
  laterality?: Coding;
  specimen?: RecordPointer[];
  started?: string;
  performer?: { function?: CodeableConcept; actor: RecordPointer }[];
  instances?: InstanceRecord[];
}

export interface StudyRecord {
  id: string;
  patientId: string;
  encounterId?: string;
  encounterDisplay?: string;
  status: 'registered' | 'available' | 'cancelled' | 'entered-in-error' | 'unknown';
  identifier?: Identifier[];
  basedOn?: RecordPointer[];
  modality?: Coding[];
  started?: string;
  referrer?: RecordPointer;
  interpreter?: RecordPointer[];
  procedureReference?: RecordPointer;
  procedureCode?: CodeableConcept[];
  location?: RecordPointer;
  reasonCode?: CodeableConcept[];
  reasonReference?: RecordPointer[];
  note?: Annotation[];
  description?: string;
  numberOfSeries?: number;
  numberOfInstances?: number;
  series?: SeriesRecord[];
}

/** An order with all that belongs to it. */
export interface InvestigationRecord {
  order: OrderRecord;
  observations: ObservationRecord[];
  reports: ReportRecord[];
  studies: StudyRecord[];
}
