/** A vital set as FHIR: one Observation per vital sign. Contract: FETCH-3. */
import { collectionJson, observationSummaries } from '../../clinical/fetch/collection.fhir.ts';
import { createClinicalFetch, type FetchDependencies } from '../../clinical/fetch/fetch-clinical.ts';
import { fillVitalSet, resourceIn, slotCodings } from '../../clinical/kept/fill-observation.fhir.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { PublishSource } from '../../publish/plan/prepare-publish.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { type Translator, translateWatched } from '../../terminology/lookup/translate.ts';
import { createVitalSetLoader } from './vital-set.store.ts';

const NAME = 'The vital set';

/** Answers `{ vitalSetId, bundle, observations }` as JSON text. */
export function createFetchVitalSet({
  db,
  publicBaseUrl,
  ...deps
}: FetchDependencies): (id: string, context: FacilityContext) => Promise<Buffer> {
  return createClinicalFetch(deps, {
    name: NAME,
    action: 'vital-set.read',
    resourceType: 'Observation',
    load: createVitalSetLoader(db),
    codings: ({ observations }) => observations.flatMap(slotCodings),
    write(record, translations, scope) {
      const observations = fillVitalSet(record.observations, translations);
      const signs = observationSummaries(observations, scope.timeZone);
      const bundle = collectionJson(publicBaseUrl, observations);
      return {
        pieces: [`{"vitalSetId":"${record.id}","bundle":`, ...bundle, ',"observations":[', ...signs, ']}'],
        unmapped: observations.flatMap(({ unmapped }) => unmapped),
      };
    },
    placeOf: () => 'vitals.sign',
  });
}

export interface EmitVitalSetDependencies {
  db: Queryable;
  translator: Translator;
}

/** How a vital set is published. */
export function vitalSetSource({ db, translator }: EmitVitalSetDependencies): PublishSource {
  const load = createVitalSetLoader(db);
  return {
    kind: 'vital-set',
    name: NAME,
    resourceType: 'Observation',
    async load(scope, id) {
      const loaded = await load({ scope, id });
      if (loaded === undefined) return undefined;
      const { record, patientId, refusedPurposes, version } = loaded;
      const codings = record.observations.flatMap(slotCodings);
      const { translations, areMapsSame } = await translateWatched(translator, scope, codings);
      const filled = fillVitalSet(record.observations, translations);
      const unmapped = filled.flatMap(({ unmapped }) => unmapped);
      return {
        patientId,
        refusedPurposes,
        version,
        areMapsSame,
        resources: filled.map(resourceIn),
        unmapped,
      };
    },
    changedSince: async (scope, id, version) => (await load({ scope, id }))?.version !== version,
    placeOf: () => 'vitals.sign',
  };
}
