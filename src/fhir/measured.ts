/** Data types of what is measured, and when (FHIR R4, "Data Types"). Never empty: absent instead. */
import type { CodeableConcept } from './coded.ts';
import type { Decimal } from './json.ts';

/** A decimal: a number, or a `Decimal` where its digits matter. */
export type Numeric = number | Decimal;

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
