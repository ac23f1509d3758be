/** An order with all that belongs to it, as FHIR. Contract: FETCH-1, FETCH-2, FETCH-6, FETCH-7. */
import {
  collectionJson,
  observationSummaries,
  orderSummaries,
  reportSummaries,
} from '../clinical/fetch/collection.fhir.ts';
import { createClinicalFetch, type FetchDependencies } from '../clinical/fetch/fetch-clinical.ts';
import { slotCodings } from '../clinical/kept/fill-observation.fhir.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { type FetchedDiscipline, ORDER_NAMES, unmappedPlace } from './investigation.ts';
import { fillOrder } from './kept/order-text.fhir.ts';
import { createOrderTextLoader } from './kept/order-texts.store.ts';
import { findReplacement } from './replaced-orders.store.ts';

/**
 * Answers `{ orderId, bundle, orders, observations, reports }` as JSON text, `observations` only of a laboratory order. What
 * else there is, such as studies and specimens, is in the Bundle only.
 */
export function createFetchOrder(
  { db, publicBaseUrl, ...deps }: FetchDependencies,
  discipline: FetchedDiscipline,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  const load = createOrderTextLoader(db);
  const isLaboratory = discipline === 'laboratory';
  return createClinicalFetch(deps, {
    name: ORDER_NAMES[discipline],
    action: isLaboratory ? 'lab-order.read' : 'imaging-order.read',
    resourceType: 'ServiceRequest',
    load: (key) => load({ ...key, discipline }),
    findReplacement: (scope, id) => findReplacement(db, scope, id),
    codings: (text) => slotCodings({ text }),
    write(kept, translations, scope) {
      const all = fillOrder(kept, translations);
      const bundle = collectionJson(publicBaseUrl, all);
      const of = (type: string) => all.filter(({ resourceType }) => resourceType === type);
      const orders = of('ServiceRequest');
      return {
        pieces: [
          `{"orderId":"${orders[0]?.id}","bundle":`,
          ...bundle,
          ',"orders":[',
          ...orderSummaries(orders),
          '],',
          ...(isLaboratory
            ? ['"observations":[', ...observationSummaries(of('Observation'), scope.timeZone), '],']
            : []),
          '"reports":[',
          ...reportSummaries(of('DiagnosticReport')),
          ']}',
        ],
        unmapped: all.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf: unmappedPlace(discipline),
  });
}
