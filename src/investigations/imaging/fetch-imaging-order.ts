/** An imaging order with its studies and reports, as FHIR. Contract: FETCH-2, FETCH-7. */
import {
  collectionJson,
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

export interface FetchImagingOrderDependencies extends FetchDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

/** Answers `{ orderId, bundle, orders, reports }` as JSON text; studies and results are in the Bundle. */
export function createFetchImagingOrder({
  db,
  publicBaseUrl,
  ...deps
}: FetchImagingOrderDependencies): (id: string, context: FacilityContext) => Promise<Buffer> {
  const load = createInvestigationLoader(db);
  return createClinicalFetch(deps, {
    name: 'The imaging order',
    action: 'imaging-order.read',
    resourceType: 'ServiceRequest',
    load: (key) => load({ ...key, discipline: 'imaging' }),
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
        `"reports":[${reports.map(reportSummary).join(',')}]`,
      ];
      return {
        text: `{${members.join(',')}}`,
        unmapped: all.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf: imagingPlace,
  });
}

/** Where the codes of a resource of an imaging order count as unmapped. */
export function imagingPlace(resourceType: string): UnmappedPlace {
  return resourceType === 'ServiceRequest' ? 'imaging.order' : 'imaging.report';
}
