/** A laboratory order with its results and reports, as FHIR. Contract: FETCH-1, FETCH-6. */
import {
  collectionJson,
  observationSummaries,
  orderSummary,
  reportSummary,
  writeResource,
} from '../../clinical/fetch/collection.fhir.ts';
import { createClinicalFetch, type FetchDependencies } from '../../clinical/fetch/fetch-clinical.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { UnmappedPlace } from '../../terminology/unmapped/record-unmapped.ts';
import { emitInvestigation, investigationCodings } from '../emit-investigation.ts';
import { createInvestigationLoader } from '../investigation.store.ts';
import { findReplacement } from '../replaced-orders.store.ts';

export interface FetchLabOrderDependencies extends FetchDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

/** Answers `{ orderId, bundle, orders, observations, reports }` as JSON text. */
export function createFetchLabOrder({
  db,
  publicBaseUrl,
  ...deps
}: FetchLabOrderDependencies): (id: string, context: FacilityContext) => Promise<Buffer> {
  const load = createInvestigationLoader(db);
  return createClinicalFetch(deps, {
    name: 'The laboratory order',
    action: 'lab-order.read',
    resourceType: 'ServiceRequest',
    load: (key) => load({ ...key, discipline: 'laboratory' }),
    findReplacement: (scope, id) => findReplacement(db, scope, id),
    codings: investigationCodings,
    write(record, translations, scope) {
      const emitted = emitInvestigation(record, scope.organisationId, translations);
      const order = writeResource(emitted.order);
      const specimens = emitted.specimens.map(writeResource);
      const studies = emitted.studies.map(writeResource);
      const reports = emitted.reports.map(writeResource);
      const { observations } = emitted;
      const all = [order, ...specimens, ...observations, ...studies, ...reports];
      const members = [
        `"orderId":"${record.order.id}"`,
        `"bundle":${collectionJson(publicBaseUrl, all)}`,
        `"orders":[${orderSummary(order)}]`,
        `"observations":[${observationSummaries(observations, scope.timeZone)}]`,
        `"reports":[${reports.map(reportSummary).join(',')}]`,
      ];
      return {
        text: `{${members.join(',')}}`,
        unmapped: all.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf: labPlace,
  });
}

const PLACES: Readonly<Record<string, UnmappedPlace>> = {
  ServiceRequest: 'lab.order',
  Observation: 'lab.result',
  DiagnosticReport: 'lab.report',
};

/** Where the codes of a resource of a laboratory order count as unmapped. */
export function labPlace(resourceType: string): UnmappedPlace {
  return PLACES[resourceType] ?? 'lab.result';
}
