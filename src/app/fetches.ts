/**
 * The three fetches as FHIR, and the routes of the single resources that they show (docs/adr/0094).
 * Contract: FETCH-18.
 */

import type { FetchKind } from '../clinical/fetch/read-resource.ts';
import { FETCHED_TYPES, type FetchedType } from '../clinical/fetch/resource-owner.store.ts';
import { createFetchVitalSet } from '../encounters/vitals/fetch-vital-set.ts';
import { createFetchOrder } from '../investigations/fetch-order.ts';
import { findReplacement } from '../investigations/replaced-orders.store.ts';
import type { Features } from './features.ts';

export type FetchName = 'laboratory' | 'imaging' | 'vitals';

/** Built once: calls that come together share statements. */
export function buildFetches(features: Features): Record<FetchName, FetchKind> {
  const replacing: FetchKind['findReplacement'] = (scope, id) => findReplacement(features.db, scope, id);
  return {
    laboratory: {
      permission: 'investigations.lab.list',
      module: 'lab',
      ownerId: ({ orderIds }) => orderIds.laboratory ?? null,
      findReplacement: replacing,
      fetch: createFetchOrder(features, 'laboratory'),
    },
    imaging: {
      permission: 'investigations.imaging.list',
      module: 'imaging',
      ownerId: ({ orderIds }) => orderIds.imaging ?? null,
      findReplacement: replacing,
      fetch: createFetchOrder(features, 'imaging'),
    },
    vitals: {
      permission: 'encounters.vitals.read',
      module: 'vitals',
      ownerId: ({ vitalSetId }) => vitalSetId,
      fetch: createFetchVitalSet(features),
    },
  };
}

/** The fetches that may show each type. */
export function kindsByType(fetches: Record<FetchName, FetchKind>): [FetchedType, FetchKind[]][] {
  const { laboratory, imaging, vitals } = fetches;
  return FETCHED_TYPES.map((type) => [
    type,
    type === 'Observation' ? [laboratory, imaging, vitals] : [laboratory, imaging],
  ]);
}
