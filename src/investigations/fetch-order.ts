/** An order with all that belongs to it, as FHIR. Contract: FETCH-1, FETCH-2. */
import {
  collectionJson,
  orderSummary,
  reportSummary,
  type WrittenObservation,
  writeResource,
} from '../clinical/fetch/collection.fhir.ts';
import {
  type ClinicalSource,
  createClinicalFetch,
  type FetchDependencies,
} from '../clinical/fetch/fetch-clinical.ts';
import type { FhirResource } from '../clinical/fetch/fhir-resource.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { emitInvestigation, investigationCodings } from './emit-investigation.ts';
import { createInvestigationLoader } from './investigation.store.ts';
import { type InvestigationRecord, ORDER_NAMES } from './investigation.ts';
import { findReplacement } from './replaced-orders.store.ts';

export interface FetchOrderDependencies extends FetchDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

export interface FetchedOrder extends Pick<ClinicalSource<InvestigationRecord>, 'action' | 'placeOf'> {
  discipline: Discipline;
  /** Members of the answer between `orders` and `reports` as JSON text, with a comma after each. */
  resultMembers: (observations: readonly WrittenObservation[], scope: FacilityScope) => string;
}

/** Answers `{ orderId, bundle, orders, ..., reports }` as JSON text. Studies and specimens are in the Bundle only. */
export function createFetchOrder(
  { db, publicBaseUrl, ...deps }: FetchOrderDependencies,
  { discipline, action, placeOf, resultMembers }: FetchedOrder,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  const load = createInvestigationLoader(db);
  return createClinicalFetch(deps, {
    name: ORDER_NAMES[discipline],
    action,
    resourceType: 'ServiceRequest',
    load: (key) => load({ ...key, discipline }),
    findReplacement: (scope, id) => findReplacement(db, scope, id),
    codings: investigationCodings,
    write(record, translations, scope) {
      const emitted = emitInvestigation(record, scope.organisationId, translations);
      const write = (resource: FhirResource) => writeResource(resource, translations);
      const order = write(emitted.order);
      const specimens = emitted.specimens.map(write);
      const studies = emitted.studies.map(write);
      const reports = emitted.reports.map(write);
      const { observations } = emitted;
      const all = [order, ...specimens, ...observations, ...studies, ...reports];
      const bundle = collectionJson(publicBaseUrl, all);
      const results = resultMembers(observations, scope);
      const text = `{"orderId":"${record.order.id}","bundle":${bundle},"orders":[${orderSummary(order)}],${results}"reports":[${reports.map(reportSummary).join(',')}]}`;
      return {
        text,
        unmapped: all.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf,
  });
}
