/** An order with all that belongs to it, as FHIR. Contract: FETCH-1, FETCH-2. */
import {
  collectionJson,
  orderSummaries,
  reportSummaries,
  type SummarisedText,
} from '../clinical/fetch/collection.fhir.ts';
import {
  type ClinicalSource,
  createClinicalFetch,
  type FetchDependencies,
} from '../clinical/fetch/fetch-clinical.ts';
import { slotCodings } from '../clinical/kept/fill-observation.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { ORDER_NAMES } from './investigation.ts';
import { fillOrder } from './kept/order-text.fhir.ts';
import { createOrderTextLoader } from './kept/order-texts.store.ts';
import { findReplacement } from './replaced-orders.store.ts';

export interface FetchOrderDependencies extends FetchDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

export interface FetchedOrder extends Pick<ClinicalSource<string>, 'action' | 'placeOf'> {
  discipline: Discipline;
  /** Members of the answer between `orders` and `reports` as JSON, with a comma after each. */
  resultMembers: (observations: readonly SummarisedText[], scope: FacilityScope) => string[];
}

/** Answers `{ orderId, bundle, orders, ..., reports }` as JSON text. Studies and specimens are in the Bundle only. */
export function createFetchOrder(
  { db, publicBaseUrl, ...deps }: FetchOrderDependencies,
  { discipline, action, placeOf, resultMembers }: FetchedOrder,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  const load = createOrderTextLoader(db);
  return createClinicalFetch(deps, {
    name: ORDER_NAMES[discipline],
    action,
    resourceType: 'ServiceRequest',
    load: (key) => load({ ...key, discipline }),
    findReplacement: (scope, id) => findReplacement(db, scope, id),
    codings: (text) => slotCodings({ text }),
    write(kept, translations, scope) {
      const all = fillOrder(kept, translations);
      const bundle = collectionJson(publicBaseUrl, all);
      const of = (type: string) => all.filter(({ resourceType }) => resourceType === type);
      const orders = of('ServiceRequest');
      const results = resultMembers(of('Observation'), scope);
      return {
        pieces: [
          `{"orderId":"${orders[0]?.id}","bundle":`,
          ...bundle,
          ',"orders":[',
          ...orderSummaries(orders),
          '],',
          ...results,
          '"reports":[',
          ...reportSummaries(of('DiagnosticReport')),
          ']}',
        ],
        unmapped: all.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf,
  });
}
