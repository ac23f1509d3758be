/** An order with its parts as FHIR resources, for publishing. Contract: FETCH-26. */
import { resourceIn, slotCodings } from '../clinical/kept/fill-observation.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { PublishableRecord, PublishSource } from '../publish/plan/prepare-publish.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { type Translator, translateWatched } from '../terminology/lookup/translate.ts';
import { createWholeInvestigationLoader, findOrderVersion } from './investigation.store.ts';
import { type FetchedDiscipline, ORDER_NAMES, unmappedPlace } from './investigation.ts';
import { fillOrder } from './kept/order-text.fhir.ts';
import { createOrderTextLoader } from './kept/order-texts.store.ts';
import { findReplacement } from './replaced-orders.store.ts';

export interface EmitDependencies {
  db: Queryable;
  translator: Translator;
}

/** Orders for publishing, with all their documents. Undefined outside the scope; 422 when one is too large. */
export function createOrderEmitter({
  db,
  translator,
}: EmitDependencies): (
  scope: FacilityScope,
  order: { orderId: string; discipline: Discipline },
) => Promise<PublishableRecord | undefined> {
  const load = createOrderTextLoader(db, createWholeInvestigationLoader(db));
  return async (scope, { orderId, discipline }) => {
    const loaded = await load({ scope, id: orderId, discipline });
    if (loaded === undefined) return undefined;
    const { record: text, patientId, refusedPurposes, version } = loaded;
    const { translations, areMapsSame } = await translateWatched(translator, scope, slotCodings({ text }));
    const filled = fillOrder(text, translations);
    const unmapped = filled.flatMap(({ unmapped }) => unmapped);
    return { patientId, refusedPurposes, version, areMapsSame, resources: filled.map(resourceIn), unmapped };
  };
}

/** How an order is published. */
export function orderSource(deps: EmitDependencies, discipline: FetchedDiscipline): PublishSource {
  const { db } = deps;
  const emit = createOrderEmitter(deps);
  return {
    kind: discipline === 'laboratory' ? 'lab-order' : 'imaging-order',
    name: ORDER_NAMES[discipline],
    resourceType: 'ServiceRequest',
    findReplacement: (scope, orderId) => findReplacement(db, scope, orderId),
    load: (scope, orderId) => emit(scope, { orderId, discipline }),
    changedSince: async (scope, orderId, version) =>
      (await findOrderVersion(db, scope, { orderId, discipline })) !== version,
    placeOf: unmappedPlace(discipline),
  };
}
