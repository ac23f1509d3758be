/** A laboratory order with its results and reports, as FHIR. Contract: FETCH-1, FETCH-6. */
import { observationSummaries } from '../../clinical/fetch/collection.fhir.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { UnmappedPlace } from '../../terminology/unmapped/record-unmapped.ts';
import { createFetchOrder, type FetchOrderDependencies } from '../fetch-order.ts';

/** Answers `{ orderId, bundle, orders, observations, reports }` as JSON text. */
export function createFetchLabOrder(
  deps: FetchOrderDependencies,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  return createFetchOrder(deps, {
    discipline: 'laboratory',
    action: 'lab-order.read',
    resultMembers: (observations, { timeZone }) => [
      '"observations":[',
      ...observationSummaries(observations, timeZone),
      '],',
    ],
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
