/**
 * Observation as FHIR R4 (https://hl7.org/fhir/R4/observation.html). Pure: no clock, no I/O.
 * Contract: HTTP-30.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { OBSERVATION_CATEGORY } from '../../terminology/lookup/code-systems.ts';
import {
  annotations,
  type EmitContext,
  encounterReference,
  type FhirResource,
  identifiers,
  reference,
  references,
  translateAll,
} from '../fetch/fhir-resource.ts';
import type { ComponentRecord, ObservationRecord, RecordPointer } from './observation.ts';
import { referenceRangeElements, valueElement } from './value.fhir.ts';
import { asVitalSign, isVitalSign } from './vital-sign.fhir.ts';
import { UNKNOWN } from './vital-value.fhir.ts';

/**
 * The resource. The order that a result belongs to is named in `basedOn` where the source named none. What is a
 * vital sign by its category or its LOINC code follows the R4 vital-signs profiles.
 */
export function observationResource(record: ObservationRecord, context: EmitContext): FhirResource {
  const { orderId } = record;
  const order = orderId === undefined ? undefined : { type: 'ServiceRequest', id: orderId };
  const resource: FhirResource = {
    resourceType: 'Observation',
    id: record.id,
    identifier: identifiers(context, record.id, record.identifier),
    basedOn: references(withOrder(record.basedOn, order)),
    partOf: references(record.partOf),
    status: record.status,
    category: translateAll(context, categories(record)),
    code: context.translate(record.code),
    subject: { reference: `Patient/${record.patientId}` },
    focus: references(record.focus),
    encounter: encounterReference(record.encounterId, record.encounterDisplay),
    ...effectiveElement(record),
    issued: record.issued,
    performer: references(record.performer),
    ...valueElement(record, context),
    dataAbsentReason: absentReason(context, record, hasMeaning(record)),
    interpretation: translateAll(context, record.interpretation),
    note: annotations(record.note),
    bodySite: record.bodySite,
    method: record.method,
    specimen: reference(record.specimen),
    device: reference(record.device),
    referenceRange: referenceRangeElements(record.referenceRanges),
    hasMember: references(record.hasMember),
    derivedFrom: references(record.derivedFrom),
    component: record.components?.map((component) => componentElement(component, context)),
  };
  return isVitalSign(resource) ? asVitalSign(resource) : resource;
}

/** `effective[x]` or `occurrence[x]`-like choices: the member for the type that the source used. */
export function effectiveElement(
  record: Pick<ObservationRecord, 'effectiveType' | 'effectiveStart' | 'effectiveEnd' | 'effectiveTiming'>,
): Record<string, unknown> {
  switch (record.effectiveType) {
    case 'Period':
      return { effectivePeriod: { start: record.effectiveStart, end: record.effectiveEnd } };
    case 'Timing':
      return { effectiveTiming: record.effectiveTiming };
    case 'Instant':
      return { effectiveInstant: record.effectiveStart };
    case 'dateTime':
      return { effectiveDateTime: record.effectiveStart };
    default:
      return {};
  }
}

/** `basedOn` of a part of an order: what the source said, or else the order that it was grouped under. */
export function withOrder(
  basedOn: readonly RecordPointer[] | undefined,
  order: RecordPointer | undefined,
): readonly RecordPointer[] | undefined {
  if (order === undefined || basedOn?.some((pointer) => pointer.id !== undefined)) return basedOn;
  return [order, ...(basedOn ?? [])];
}

/** The source's categories; a laboratory result that came with none is `laboratory`. */
function categories(record: ObservationRecord): CodeableConcept[] | undefined {
  if (record.category !== undefined || record.kind !== 'laboratory') return record.category;
  return [{ coding: [{ system: OBSERVATION_CATEGORY, code: 'laboratory', display: 'Laboratory' }] }];
}

function componentElement(component: ComponentRecord, context: EmitContext) {
  return {
    code: context.translate(component.code),
    ...valueElement(component, context),
    dataAbsentReason: absentReason(context, component, component.valueType !== undefined),
    interpretation: translateAll(context, component.interpretation),
    referenceRange: referenceRangeElements(component.referenceRanges),
  };
}

function hasMeaning(record: ObservationRecord): boolean {
  return record.valueType !== undefined || record.components !== undefined || record.hasMember !== undefined;
}

/**
 * Only where there is no value (R4 invariant obs-6). Where the source gave neither, the value is `unknown`.
 */
function absentReason(
  context: EmitContext,
  { valueType, dataAbsentReason }: Pick<ComponentRecord, 'valueType' | 'dataAbsentReason'>,
  meaningful: boolean,
): CodeableConcept | undefined {
  if (valueType !== undefined) return undefined;
  if (dataAbsentReason !== undefined) return context.translate(dataAbsentReason);
  return meaningful ? undefined : UNKNOWN;
}
