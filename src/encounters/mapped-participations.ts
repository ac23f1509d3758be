/**
 * Puts what the terminology maps say of how clinicians took part into Encounters whose sources have codes of their own
 * for it, and counts the codes that no map leads from. Contract: TERM-27, TERM-29.
 */
import { hash } from 'node:crypto';
import { codingsOf, emitContext, unmappedAmong } from '../clinical/content/coded-content.ts';
import { parseFhirJson } from '../fhir/json.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Translator } from '../terminology/lookup/translate.ts';
import type { UnmappedRecorder } from '../terminology/unmapped/record-unmapped.ts';
import { isOpenToMaps, type Participated, participations, type RenderedEncounter } from './encounter.fhir.ts';

export interface ParticipationDependencies {
  translator: Translator;
  unmapped: Pick<UnmappedRecorder, 'met'>;
}

export async function withMappedParticipations(
  { translator, unmapped }: ParticipationDependencies,
  scope: FacilityScope,
  encounters: readonly RenderedEncounter[],
): Promise<RenderedEncounter[]> {
  const open = new Map(
    encounters.filter(isOpenToMaps).map((encounter) => [encounter, elementsOf(encounter)]),
  );
  const translations = await translator.translate(
    scope,
    codingsOf([...open.values()].flatMap(participations)),
  );
  for (const [{ id }, elements] of open) {
    const codes = unmappedAmong({ resourceType: 'Encounter', id }, participations(elements), translations);
    unmapped.met(scope, 'encounter.participation', codes);
  }
  if (translations.size === 0) return [...encounters];
  const { translate } = emitContext(scope.organisationId, translations);
  return encounters.map((encounter) => {
    const elements = open.get(encounter);
    if (elements === undefined) return encounter;
    for (const one of elements.participant ?? []) if (one.type) one.type = one.type.map(translate);
    // Maps change without a new version of the Encounter.
    const variant = hash('sha256', JSON.stringify(elements.participant)).slice(0, 16);
    return { ...encounter, elements: JSON.stringify(elements).slice(1), variant };
  });
}

function elementsOf({ elements }: RenderedEncounter): Participated {
  return parseFhirJson(`{${elements}`) as Participated;
}
