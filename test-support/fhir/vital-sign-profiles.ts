/**
 * What the R4 vital-signs profiles fix, read from their StructureDefinitions: codes, units, components, and whether
 * there is a value (https://hl7.org/fhir/R4/observation-vitalsigns.html).
 */
import { definitionsIn } from './definitions.ts';

/** A code with the UCUM codes that its value may have. */
export interface MeasuredCode {
  code: string;
  units: readonly string[];
}

export interface VitalSignProfile {
  /** `bp`. */
  name: string;
  /** LOINC; undefined for the base profile. */
  code: string | undefined;
  /** Empty where none is fixed. */
  units: readonly string[];
  value: 'required' | 'optional' | 'forbidden';
  needsMembers: boolean;
  /** Each is there exactly once. */
  components: readonly MeasuredCode[];
}

interface ElementDefinition {
  id: string;
  min?: number;
  max?: string;
  fixedCode?: string;
  binding?: { valueSet?: string };
}
interface Definition {
  resourceType: string;
  id: string;
  url: string;
  baseDefinition?: string;
  differential?: { element: ElementDefinition[] };
  compose?: { include: { concept?: { code: string }[] }[] };
}

const BASE = 'http://hl7.org/fhir/StructureDefinition/vitalsigns';

/** By the canonical URL of the profile. */
export const VITAL_SIGN_PROFILES: ReadonlyMap<string, VitalSignProfile> = readProfiles();

/** Those of the profiles that a LOINC code, of an Observation or of a component, brings with it. */
export function profilesOfCode(code: string): VitalSignProfile[] {
  return [...VITAL_SIGN_PROFILES.values()].filter(
    (profile) => profile.code === code || profile.components.some((component) => component.code === code),
  );
}

function readProfiles(): Map<string, VitalSignProfile> {
  const definitions = definitionsIn<Definition>('profiles-others').filter(
    ({ url, baseDefinition }) => url === BASE || baseDefinition === BASE,
  );
  const valueSets = new Map(definitionsIn<Definition>('valuesets').map((one) => [one.url, one]));
  return new Map(definitions.map((definition) => [definition.url, profileOf(definition, valueSets)]));
}

function profileOf(
  { id: name, differential }: Definition,
  valueSets: ReadonlyMap<string, Definition>,
): VitalSignProfile {
  const elements = differential?.element ?? [];
  const find = (pattern: RegExp) => elements.find(({ id }) => pattern.test(id));
  const units = (pattern: RegExp) => {
    const { fixedCode, binding } = find(pattern) ?? {};
    if (fixedCode !== undefined) return [fixedCode];
    const valueSet = valueSets.get(binding?.valueSet?.split('|')[0] ?? '');
    return valueSet?.compose?.include.flatMap(({ concept = [] }) => concept.map(({ code }) => code)) ?? [];
  };
  const value = find(/^Observation\.value(\[x\]|Quantity)$/);
  const components = elements.flatMap(({ id, fixedCode }) => {
    const slice = /^(Observation\.component:[^.]+)\.code\.coding:[^.]+\.code$/.exec(id)?.[1];
    if (slice === undefined || fixedCode === undefined) return [];
    return [{ code: fixedCode, units: units(new RegExp(`^${slice}\\.valueQuantity\\.code$`)) }];
  });
  return {
    name,
    code: find(/^Observation\.code\.coding:[^.]+\.code$/)?.fixedCode,
    units: units(/^Observation\.valueQuantity\.code$/),
    value: value?.max === '0' ? 'forbidden' : (value?.min ?? 0) > 0 ? 'required' : 'optional',
    needsMembers: (find(/^Observation\.hasMember$/)?.min ?? 0) > 0,
    components,
  };
}
