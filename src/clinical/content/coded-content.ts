/**
 * The codes of resources about to be sent: which to look up, how maps are applied, which stay local.
 * Contract: TERM-1.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import { mayStartMap } from '../../terminology/lookup/code-systems.ts';
import { applyMap, type Translations, unmappedCodings } from '../../terminology/maps/apply-map.ts';
import type { EmitContext } from '../description/element.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import { officially } from './official-display.ts';

/** The codings of some concepts. */
export function codingsOf(concepts: readonly (CodeableConcept | undefined)[]): Coding[] {
  return concepts.flatMap((concept) => concept?.coding ?? []);
}

/** A context that writes what the maps say, with official displays where they are known. */
export function emitContext(organisationId: string, translations: Translations): EmitContext {
  return { organisationId, translate: (concept) => officially(applyMap(concept, translations)) };
}

/** A local code that stays local: no map leads from it to a standard one. */
export interface UnmappedCode {
  resourceType: string;
  localId: string;
  system: string | undefined;
  code: string;
  display: string | undefined;
}

/** The unmapped codes of what was ordered, measured or reported, each once for a resource. */
export function unmappedCodes(resource: FhirResource, translations: Translations): UnmappedCode[] {
  const components = (resource.component ?? []) as { code: CodeableConcept }[];
  const concepts = [resource.code as CodeableConcept | undefined, ...components.map(({ code }) => code)];
  return unmappedAmong(
    resource,
    concepts.filter((concept) => concept !== undefined),
    translations,
  );
}

/** The same of the concepts that say what was ordered, measured or reported. */
export function unmappedAmong(
  { resourceType, id }: Pick<FhirResource, 'resourceType' | 'id'>,
  concepts: readonly CodeableConcept[],
  translations: Translations,
): UnmappedCode[] {
  const found = new Map<string, UnmappedCode>();
  for (const concept of concepts)
    for (const { system, code, display } of unmappedCodings(concept, translations))
      found.set(`${system}\n${code}`, { resourceType, localId: id, system, code, display });
  return [...found.values()];
}

/** True for a concept that a terminology map may say something about. */
export function mayBeMapped({ coding = [] }: CodeableConcept): boolean {
  return coding.some((one) => one.code !== undefined && mayStartMap(one));
}
