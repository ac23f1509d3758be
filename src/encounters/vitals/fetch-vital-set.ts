/** A vital set as FHIR: one Observation per vital sign. Contract: FETCH-3. */
import {
  emitContext,
  observationCodings,
  type UnmappedCode,
  unmappedCodes,
} from '../../clinical/content/coded-content.ts';
import { collectionJson, observationSummary, writeResource } from '../../clinical/fetch/collection.fhir.ts';
import { createClinicalFetch, type FetchDependencies } from '../../clinical/fetch/fetch-clinical.ts';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { vitalSetResources } from '../../clinical/resources/observation.fhir.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { Translator } from '../../terminology/lookup/translate.ts';
import type { Translations } from '../../terminology/maps/apply-map.ts';
import { createVitalSetLoader, type VitalSetRecord } from './vital-set.store.ts';

const NAME = 'The vital set';

export interface FetchVitalSetDependencies extends FetchDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

/** Answers `{ vitalSetId, bundle, observations }` as JSON text. */
export function createFetchVitalSet({
  db,
  publicBaseUrl,
  ...deps
}: FetchVitalSetDependencies): (id: string, context: FacilityContext) => Promise<Buffer> {
  return createClinicalFetch(deps, {
    name: NAME,
    action: 'vital-set.read',
    resourceType: 'Observation',
    load: createVitalSetLoader(db),
    codings: ({ observations }) => observations.flatMap(observationCodings),
    write(record, translations, scope) {
      const observations = emitVitalSet(record, scope.organisationId, translations).map(writeResource);
      const signs = observations.map((observation) => observationSummary(observation, scope.timeZone));
      const bundle = collectionJson(publicBaseUrl, observations);
      return {
        text: `{"vitalSetId":"${record.id}","bundle":${bundle},"observations":[${signs.join(',')}]}`,
        unmapped: observations.flatMap(({ resource }) => unmappedCodes(resource)),
      };
    },
    placeOf: () => 'vitals.sign',
  });
}

function emitVitalSet(
  { observations }: VitalSetRecord,
  organisationId: string,
  translations: Translations,
): FhirResource[] {
  return vitalSetResources(observations, emitContext(organisationId, translations));
}

export interface VitalSetResources {
  patientId: string;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
  version: number;
  resources: FhirResource[];
  unmapped: UnmappedCode[];
}

/** A vital set for publishing. 404 outside the scope. */
export async function loadVitalSetResources(
  { db, translator }: { db: Queryable; translator: Translator },
  scope: FacilityScope,
  vitalSetId: string,
): Promise<VitalSetResources> {
  const loaded = await createVitalSetLoader(db)({ scope, id: vitalSetId, heldVersion: null });
  if (loaded?.record === undefined) throw notFound(NAME);
  const { record, patientId, refusedPurposes, version } = loaded;
  const translations = await translator.translate(scope, record.observations.flatMap(observationCodings));
  const resources = emitVitalSet(record, scope.organisationId, translations);
  return { patientId, refusedPurposes, version, resources, unmapped: resources.flatMap(unmappedCodes) };
}

/** Whether the vital set is no longer that version. */
export async function vitalSetChangedSince(
  db: Queryable,
  scope: FacilityScope,
  { vitalSetId, version }: { vitalSetId: string; version: number },
): Promise<boolean> {
  const loaded = await createVitalSetLoader(db)({ scope, id: vitalSetId, heldVersion: version });
  return loaded?.version !== version;
}
