/**
 * What was measured or found, as the internal model holds it: a laboratory result, a vital sign, or both
 * (docs/adr/0040). Decimals are numbers, or `Decimal` where their digits matter.
 */
import type { CodeableConcept, Identifier, Period } from '../../fhir/coded.ts';
import type { Decimal } from '../../fhir/json.ts';

export type Numeric = number | Decimal;

/** A pointer at another record: its id here, or only what it was called. */
export interface RecordPointer {
  type?: string;
  id?: string;
  display?: string;
}

export interface Annotation {
  authorReference?: RecordPointer;
  authorString?: string;
  /** FHIR dateTime. */
  time?: string;
  text: string;
}

export interface Quantity {
  value?: Numeric;
  comparator?: string;
  unit?: string;
  system?: string;
  code?: string;
}

export interface Range {
  low?: Quantity;
  high?: Quantity;
}

export interface Ratio {
  numerator?: Quantity;
  denominator?: Quantity;
}

/** A series of measurements (FHIR R4, SampledData); times in milliseconds. */
export interface SampledData {
  origin: Quantity;
  period: Numeric;
  factor?: Numeric;
  lowerLimit?: Numeric;
  upperLimit?: Numeric;
  dimensions: number;
  data?: string;
}

/** When something happens, as a rule (FHIR R4, Timing). */
export interface Timing {
  event?: string[];
  repeat?: Readonly<Record<string, unknown>>;
  code?: CodeableConcept;
}

export type ValueType =
  | 'Quantity'
  | 'CodeableConcept'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'Range'
  | 'Ratio'
  | 'SampledData'
  | 'time'
  | 'dateTime'
  | 'Period';

/** A value in the columns that hold it: which of them are there depends on `valueType`. */
export interface ObservedValue {
  valueType?: ValueType;
  /** Quantity, integer. */
  valueNumber?: Numeric;
  valueComparator?: string;
  valueUnit?: string;
  valueUnitSystem?: string;
  valueUnitCode?: string;
  /** string, boolean (`true`, `false`), time, dateTime. */
  valueText?: string;
  valueConcept?: CodeableConcept;
  valueStructure?: Range | Ratio | SampledData | Period;
}

export interface ReferenceRangeRecord {
  lowNumber?: Numeric;
  lowUnit?: string;
  lowUnitSystem?: string;
  lowUnitCode?: string;
  highNumber?: Numeric;
  highUnit?: string;
  highUnitSystem?: string;
  highUnitCode?: string;
  type?: CodeableConcept;
  appliesTo?: CodeableConcept[];
  age?: Range;
  text?: string;
}

export interface ComponentRecord extends ObservedValue {
  code: CodeableConcept;
  dataAbsentReason?: CodeableConcept;
  interpretation?: CodeableConcept[];
  referenceRanges?: ReferenceRangeRecord[];
}

export type ObservationStatus =
  | 'registered'
  | 'preliminary'
  | 'final'
  | 'amended'
  | 'corrected'
  | 'cancelled'
  | 'entered-in-error'
  | 'unknown';

/** What of an observation a route, a list or an order groups by. */
export type ObservationKind = 'laboratory' | 'vital-sign' | 'imaging' | 'other';

export interface ObservationRecord extends ObservedValue {
  id: string;
  /** The order that it is a result of. */
  orderId?: string;
  patientId: string;
  encounterId?: string;
  encounterDisplay?: string;
  kind: ObservationKind;
  status: ObservationStatus;
  identifier?: Identifier[];
  basedOn?: RecordPointer[];
  partOf?: RecordPointer[];
  focus?: RecordPointer[];
  category?: CodeableConcept[];
  code: CodeableConcept;
  effectiveType?: 'dateTime' | 'Period' | 'Timing' | 'Instant';
  /** FHIR dateTime as it was written; the start of a Period. */
  effectiveStart?: string;
  effectiveEnd?: string;
  effectiveTiming?: Timing;
  /** FHIR instant as it was written. */
  issued?: string;
  performer?: RecordPointer[];
  dataAbsentReason?: CodeableConcept;
  interpretation?: CodeableConcept[];
  note?: Annotation[];
  bodySite?: CodeableConcept;
  method?: CodeableConcept;
  specimen?: RecordPointer;
  device?: RecordPointer;
  hasMember?: RecordPointer[];
  derivedFrom?: RecordPointer[];
  components?: ComponentRecord[];
  referenceRanges?: ReferenceRangeRecord[];
}
