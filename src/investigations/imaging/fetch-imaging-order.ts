/** An imaging order with its studies and reports, as FHIR. Contract: FETCH-2, FETCH-7. */
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { UnmappedPlace } from '../../terminology/unmapped/record-unmapped.ts';
import { createFetchOrder, type FetchOrderDependencies } from '../fetch-order.ts';

/** Answers `{ orderId, bundle, orders, reports }` as JSON text; studies and results are in the Bundle. */
export function createFetchImagingOrder(
  deps: FetchOrderDependencies,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  return createFetchOrder(deps, {
    discipline: 'imaging',
    action: 'imaging-order.read',
    resultMembers: () => [],
    placeOf: imagingPlace,
  });
}

/** Where the codes of a resource of an imaging order count as unmapped. */
export function imagingPlace(resourceType: string): UnmappedPlace {
  return resourceType === 'ServiceRequest' ? 'imaging.order' : 'imaging.report';
}
