/** The records that published resources refer to and that are sent with them, or named by their identifier. */
import type { FhirResource } from '../observations/fhir-resource.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { keyOf, type ResourceKey, referencedKeys, splitKey } from './content.fhir.ts';
import { SENT_AHEAD } from './resource-types.ts';

/** Loads records of these types in scope, as FHIR; those that are not there are missing from the answer. */
export type LoadReferenced = (scope: FacilityScope, keys: readonly ResourceKey[]) => Promise<FhirResource[]>;

/** What `resources` refer to outside themselves, and what that refers to in turn. */
export async function loadReferenced(
  load: LoadReferenced,
  scope: FacilityScope,
  resources: readonly FhirResource[],
): Promise<FhirResource[]> {
  const seen = new Set<ResourceKey>(resources.map(keyOf));
  const found: FhirResource[] = [];
  let round: readonly FhirResource[] = resources;
  while (round.length > 0) {
    const wanted = new Set(round.flatMap((resource) => [...referencedKeys(JSON.stringify(resource))]));
    const keys = [...wanted].filter((key) => !seen.has(key) && SENT_AHEAD.has(splitKey(key).type));
    for (const key of keys) seen.add(key);
    round = keys.length === 0 ? [] : await load(scope, keys);
    found.push(...round);
  }
  return found;
}
