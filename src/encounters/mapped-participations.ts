/**
 * Puts what the terminology maps say of how clinicians took part into Encounters whose sources have codes of their own
 * for it. Contract: TERM-27.
 */
import { hash } from 'node:crypto';
import { codingsOf, emitContext } from '../clinical/content/coded-content.ts';
import { parseFhirJson } from '../fhir/json.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Translator } from '../terminology/lookup/translate.ts';
import type { Translations } from '../terminology/maps/apply-map.ts';
import { isOpenToMaps, type Participated, participations, type RenderedEncounter } from './encounter.fhir.ts';

export async function withMappedParticipations(
  translator: Translator,
  scope: FacilityScope,
  encounters: readonly RenderedEncounter[],
): Promise<RenderedEncounter[]> {
  const open = encounters.filter(isOpenToMaps).flatMap((encounter) => participations(elementsOf(encounter)));
  const translations = await translator.translate(scope, codingsOf(open));
  return encounters.map((encounter) =>
    isOpenToMaps(encounter) ? mapped(encounter, scope.organisationId, translations) : encounter,
  );
}

function elementsOf({ elements }: RenderedEncounter): Participated {
  return parseFhirJson(`{${elements}`) as Participated;
}

function mapped(
  encounter: RenderedEncounter,
  organisationId: string,
  translations: Translations,
): RenderedEncounter {
  if (translations.size === 0) return encounter;
  const { translate } = emitContext(organisationId, translations);
  const elements = elementsOf(encounter);
  for (const one of elements.participant ?? []) if (one.type) one.type = one.type.map(translate);
  // Maps change without a new version of the Encounter.
  const variant = hash('sha256', JSON.stringify(elements.participant)).slice(0, 16);
  return { ...encounter, elements: JSON.stringify(elements).slice(1), variant };
}
