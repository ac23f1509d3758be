/**
 * The text that an order is kept as, with all that belongs to it (docs/adr/0153): its resources in the order of the Bundle,
 * each as it is kept by itself. Pure. Contract: FETCH-26.
 */
import { orderSummary, reportSummary, type SummarisedText } from '../../clinical/fetch/collection.fhir.ts';
import { fillObservation, fillResource, settleOrder } from '../../clinical/kept/fill-observation.fhir.ts';
import { keptResource, OBSERVATION_MAPPING } from '../../clinical/kept/observation-text.fhir.ts';
import { DIAGNOSTIC_REPORT } from '../../clinical/resources/diagnostic-report.fhir.ts';
import { IMAGING_STUDY } from '../../clinical/resources/imaging-study.fhir.ts';
import { SERVICE_REQUEST } from '../../clinical/resources/service-request.fhir.ts';
import { SPECIMEN } from '../../clinical/resources/specimen.fhir.ts';
import type { Translations } from '../../terminology/maps/apply-map.ts';
import type { InvestigationRecord } from '../investigation.ts';

/**
 * The version of what this file writes. Raise it by one whenever a text changes for an order that stays as it is, such as for
 * a new element of a report. `order-texts.test.ts` says when it was forgotten.
 */
const OWN_MAPPING = 3;
/** Changes with the texts of Observations, which are part of it. */
export const ORDER_MAPPING = 1_000 * OWN_MAPPING + OBSERVATION_MAPPING;

/** Between resources, and between type, id and text of each: a kept text has neither. */
const RESOURCE = '\x1e';
const FIELD = '\x1f';

export function orderText(
  { order, specimens, observations, studies, reports }: InvestigationRecord,
  organisationId: string,
): string {
  const plain = { organisationId, summary: () => '' };
  const inLaboratoryOrder = order.discipline === 'laboratory';
  return [
    [
      'ServiceRequest',
      order.id,
      keptResource(SERVICE_REQUEST, order, { organisationId, summary: orderSummary }),
    ],
    ...specimens.map((one) => ['Specimen', one.id, keptResource(SPECIMEN, one, plain)]),
    ...observations.map((one) => ['Observation', one.id, settleOrder(one, inLaboratoryOrder)]),
    ...studies.map((one) => ['ImagingStudy', one.id, keptResource(IMAGING_STUDY, one, plain)]),
    ...reports.map((one) => [
      'DiagnosticReport',
      one.id,
      keptResource(DIAGNOSTIC_REPORT, one, { organisationId, summary: reportSummary }),
    ]),
  ]
    .map((fields) => fields.join(FIELD))
    .join(RESOURCE);
}

/** The resources, in the order of the Bundle, as the maps make them. */
export function fillOrder(text: string, translations: Translations): SummarisedText[] {
  // What the order decides is settled in the text.
  const filling = { translations, inLaboratoryOrder: false };
  return text.split(RESOURCE).map((resource) => {
    const [resourceType = '', id = '', kept = ''] = resource.split(FIELD);
    return resourceType === 'Observation'
      ? fillObservation({ id, orderId: undefined, text: kept }, filling)
      : fillResource({ resourceType, id, text: kept }, translations);
  });
}
