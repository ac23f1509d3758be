/**
 * The class of an Encounter is one Coding, of HL7 v3 ActCode: a class that a source has a code of its own for is stored as
 * the one that the terminology maps lead to. Without a map it stays as it is, and is refused. Contract: TERM-28.
 */
import { ACT_CODE_SYSTEM, ENCOUNTER_CLASS_DISPLAY } from '../../../fhir/act-code.ts';
import type { Coding } from '../../../fhir/coded.ts';
import type { JsonObject } from '../../../fhir/reading/json-resource.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { mayStartMap } from '../../../terminology/lookup/code-systems.ts';
import { createTranslator, type LocalCoding } from '../../../terminology/lookup/translate.ts';
import { translationKey } from '../../../terminology/maps/apply-map.ts';

export async function withMappedClasses<Entry extends { resource: JsonObject; hasMappedClass?: boolean }>(
  db: Queryable,
  scope: FacilityScope,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const codings = entries.flatMap(({ resource }) => localClass(resource) ?? []);
  const translations = await createTranslator({ db }).translate(scope, codings);
  return entries.map((entry) => {
    const local = localClass(entry.resource);
    const targets = local && translations.get(translationKey(local));
    const mapped = targets?.find(({ system }) => system === ACT_CODE_SYSTEM);
    if (mapped === undefined) return entry;
    const { system, code } = mapped;
    // The rest of it stays, to be refused, kept or counted as that of any other class.
    const known = { ...(entry.resource.class as object), system, code };
    return { ...entry, resource: { ...entry.resource, class: known }, hasMappedClass: true };
  });
}

function localClass(resource: JsonObject): LocalCoding | undefined {
  if (resource.resourceType !== 'Encounter') return undefined;
  const { system = '', code } = (resource.class ?? {}) as Coding;
  if (typeof system !== 'string' || typeof code !== 'string' || !mayStartMap({ system })) return undefined;
  // A known class needs no system.
  if (system === '' && Object.hasOwn(ENCOUNTER_CLASS_DISPLAY, code)) return undefined;
  // PostgreSQL takes no NUL in what is asked; the element is refused by its name.
  return `${system}${code}`.includes('\0') ? undefined : { system, code };
}
