/** An order with its parts as FHIR resources: for fetching and for publishing. Contract: FETCH-26. */

import { codingsOf, emitContext, unmappedCodes } from '../clinical/content/coded-content.ts';
import { resourceObject } from '../clinical/description/describe.ts';
import type { WrittenObservation } from '../clinical/fetch/collection.fhir.ts';
import type { FhirResource } from '../clinical/fetch/fhir-resource.ts';
import { fillObservation, resourceIn, slotCodings } from '../clinical/kept/fill-observation.fhir.ts';
import { DIAGNOSTIC_REPORT } from '../clinical/resources/diagnostic-report.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import { IMAGING_STUDY } from '../clinical/resources/imaging-study.fhir.ts';
import { SERVICE_REQUEST } from '../clinical/resources/service-request.fhir.ts';
import { SPECIMEN } from '../clinical/resources/specimen.fhir.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { PublishableRecord, PublishSource } from '../publish/plan/prepare-publish.ts';
import { notFound } from '../tenancy/errors.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Translator } from '../terminology/lookup/translate.ts';
import type { Translations } from '../terminology/maps/apply-map.ts';
import { createWholeInvestigationLoader, findOrderVersion } from './investigation.store.ts';
import { type InvestigationRecord, ORDER_NAMES } from './investigation.ts';
import { findReplacement } from './replaced-orders.store.ts';

/** The resources of an order, in the order in which they stand in the Bundle. */
export interface EmittedInvestigation {
  order: FhirResource;
  specimens: FhirResource[];
  observations: WrittenObservation[];
  studies: FhirResource[];
  reports: FhirResource[];
}

export function investigationCodings({ order, observations, reports }: InvestigationRecord) {
  return [
    ...codingsOf([order.code, ...reports.map(({ code }) => code)]),
    ...observations.flatMap(slotCodings),
  ];
}

export function emitInvestigation(
  { order, specimens, observations, reports, studies }: InvestigationRecord,
  organisationId: string,
  translations: Translations,
): EmittedInvestigation {
  const context = emitContext(organisationId, translations);
  const filling = { translations, inLaboratoryOrder: order.discipline === 'laboratory' };
  return {
    order: resourceObject(SERVICE_REQUEST, order, context),
    specimens: specimens.map((specimen) => resourceObject(SPECIMEN, specimen, context)),
    observations: observations.map((observation) => fillObservation(observation, filling)),
    studies: studies.map((study) => resourceObject(IMAGING_STUDY, study, context)),
    reports: reports.map((report) => resourceObject(DIAGNOSTIC_REPORT, report, context)),
  };
}

export interface EmitDependencies {
  db: Queryable;
  translator: Translator;
}

/** An order for publishing. 404 outside the scope; 422 when it is too large. */
export async function loadOrderResources(
  { db, translator }: EmitDependencies,
  scope: FacilityScope,
  { orderId, discipline }: { orderId: string; discipline: Discipline },
): Promise<PublishableRecord> {
  const load = createWholeInvestigationLoader(db);
  const loaded = await load({ scope, id: orderId, discipline, heldVersion: null });
  if (loaded?.record === undefined) throw notFound(ORDER_NAMES[discipline]);
  const { record, patientId, refusedPurposes, version } = loaded;
  const translations = await translator.translate(scope, investigationCodings(record));
  const { order, specimens, observations, studies, reports } = emitInvestigation(
    record,
    scope.organisationId,
    translations,
  );
  const resources = [order, ...specimens, ...observations.map(resourceIn), ...studies, ...reports];
  const unmapped = resources.flatMap((resource) => unmappedCodes(resource, translations));
  return { patientId, refusedPurposes, version, resources, unmapped };
}

/** How an order is loaded for publishing. */
export function orderSource(
  deps: EmitDependencies,
  discipline: Discipline,
): Omit<PublishSource, 'kind' | 'placeOf'> {
  const { db } = deps;
  return {
    name: ORDER_NAMES[discipline],
    resourceType: 'ServiceRequest',
    findReplacement: (scope, orderId) => findReplacement(db, scope, orderId),
    load: (scope, orderId) => loadOrderResources(deps, scope, { orderId, discipline }),
    changedSince: async (scope, orderId, version) =>
      (await findOrderVersion(db, scope, { orderId, discipline })) !== version,
  };
}
