/**
 * An order as FHIR R4 ServiceRequest (https://hl7.org/fhir/R4/servicerequest.html). Pure.
 * Contract: HTTP-30, FETCH-10.
 */

import {
  annotations,
  type EmitContext,
  encounterReference,
  type FhirResource,
  identifiers,
  reference,
  references,
} from '../clinical/fetch/fhir-resource.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { SNOMED_CT } from '../terminology/lookup/code-systems.ts';
import type { Discipline, OrderRecord } from './investigation.ts';

/** Categories of the R4 example value set "Service Request Category Codes". */
const CATEGORY: Readonly<Record<Discipline, CodeableConcept | undefined>> = {
  laboratory: { coding: [{ system: SNOMED_CT, code: '108252007', display: 'Laboratory procedure' }] },
  imaging: { coding: [{ system: SNOMED_CT, code: '363679005', display: 'Imaging' }] },
  other: undefined,
};

/** The resource, in the category of its discipline where it has none. Made-up orders: docs/fhir-mapping.md, "Grouping". */
export function orderResource(order: OrderRecord, context: EmitContext): FhirResource {
  return {
    resourceType: 'ServiceRequest',
    id: order.id,
    identifier: identifiers(context, order.id, order.identifier),
    basedOn: references(order.basedOn),
    replaces: references(order.replaces),
    requisition: order.requisition,
    status: order.status,
    intent: order.intent,
    category: order.category ?? nonEmpty(CATEGORY[order.discipline]),
    priority: order.priority,
    doNotPerform: order.doNotPerform,
    code: order.code === undefined ? undefined : context.translate(order.code),
    orderDetail: order.orderDetail,
    subject: { reference: `Patient/${order.patientId}` },
    encounter: encounterReference(order.encounterId, order.encounterDisplay),
    ...occurrence(order),
    asNeededBoolean: order.asNeeded,
    asNeededCodeableConcept: order.asNeededFor,
    authoredOn: order.authored,
    requester: reference(order.requester),
    performerType: order.performerType,
    performer: references(order.performer),
    locationCode: order.locationCode,
    locationReference: references(order.location),
    reasonCode: order.reasonCode,
    reasonReference: references(order.reasonReference),
    specimen: references(order.specimen),
    bodySite: order.bodySite,
    note: annotations(order.note),
    patientInstruction: order.patientInstruction,
  };
}

function occurrence(order: OrderRecord): Record<string, unknown> {
  switch (order.occurrenceType) {
    case 'dateTime':
      return { occurrenceDateTime: order.occurrenceStart };
    case 'Period':
      return { occurrencePeriod: { start: order.occurrenceStart, end: order.occurrenceEnd } };
    case 'Timing':
      return { occurrenceTiming: order.occurrenceTiming };
    default:
      return {};
  }
}

function nonEmpty<T>(item: T | undefined): T[] | undefined {
  return item === undefined ? undefined : [item];
}
