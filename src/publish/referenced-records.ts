/** The records that published resources refer to and that are sent with them, or named by their identifier. */
import type { FhirResource } from '../observations/fhir-resource.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { keyOf, type ResourceKey, referencedKeys, splitKey } from './content.fhir.ts';

/** Types that a target can be sent ahead of what refers to them (design 3.5); Location for encounters. */
export const SENT_AHEAD: ReadonlySet<string> = new Set([
  'Patient',
  'Practitioner',
  'Organization',
  'Encounter',
  'Location',
]);

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
