/**
 * Puts what the terminology maps say into coded values. Pure: `translate.ts` fetches the translations.
 * Contract: TERM-3.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import { isStandardSystem, LOINC } from '../lookup/code-systems.ts';

/** A code in a standard system that a map gives for a local one. */
export interface StandardCoding {
  system: string;
  code: string;
  display?: string;
}

/** What the maps of one facility say about some codings, by {@link translationKey}. */
export type Translations = ReadonlyMap<string, readonly StandardCoding[]>;

export const NO_TRANSLATIONS: Translations = new Map();

/** Key of a coding in {@link Translations}. A coding without a system is looked up under the empty one. */
export function translationKey(coding: { system?: string; code?: string }): string {
  return `${coding.system ?? ''}\n${coding.code ?? ''}`;
}

/**
 * The concept with its standard codings first (LOINC before all others) and every coding that it came with
 * kept. A target in a system that the concept already has a code of is left out: the source's own code
 * stands. Text and every other element stay as they are; the concept given is not changed.
 */
export function applyMap<Concept extends CodeableConcept>(
  concept: Concept,
  translations: Translations,
): Concept {
  const own = concept.coding ?? [];
  if (own.length === 0) return concept;
  const added: StandardCoding[] = [];
  const present = new Set(own.flatMap(({ system, code }) => (code === undefined ? [] : [system])));
  for (const target of own.flatMap((coding) => translations.get(translationKey(coding)) ?? [])) {
    if (present.has(target.system)) continue;
    present.add(target.system);
    added.push(target);
  }
  // Those of one rank stay in their order.
  const coding = [...added, ...own].sort((a, b) => rank(a.system) - rank(b.system));
  return { ...concept, coding };
}

/**
 * The local codings of a concept that has no standard coding and none that the maps lead from, which is what makes them
 * *unmapped*. Empty for a concept of text alone. Call it on what {@link applyMap} gave, with the same translations: what a
 * map leads to is standard, whatever its system.
 */
export function unmappedCodings(
  concept: CodeableConcept,
  translations: Translations,
): (Coding & { code: string })[] {
  const codings = concept.coding ?? [];
  const isMapped = (coding: Coding) =>
    coding.code !== undefined &&
    (isStandardSystem(coding.system) || translations.has(translationKey(coding)));
  if (codings.some(isMapped)) return [];
  return codings.flatMap((coding) => (coding.code === undefined ? [] : [{ ...coding, code: coding.code }]));
}

function rank(system: string | undefined): number {
  if (system === LOINC) return 0;
  return isStandardSystem(system) ? 1 : 2;
}
