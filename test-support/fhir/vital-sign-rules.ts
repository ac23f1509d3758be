/**
 * The R4 vital-signs profiles, checked in two ways: by outside validators against HL7's own profiles, and by
 * their codes, units and components, which none of them checks.
 */
import { definitionsIn } from './definitions.ts';
import { invariantFaults } from './fhir-invariants.ts';
import { structureFaults } from './fhir-validator.ts';
import { profilesOfCode, VITAL_SIGN_PROFILES, type VitalSignProfile } from './vital-sign-profiles.ts';

interface Coding {
  system?: string;
  code?: string;
}
interface Concept {
  coding?: Coding[];
}
interface Measured {
  code?: Concept;
  valueQuantity?: { system?: string; code?: string; value?: number; unit?: string };
  dataAbsentReason?: unknown;
}
interface Observation extends Measured {
  resourceType: string;
  status?: string;
  category?: Concept[];
  subject?: { reference?: string };
  component?: Measured[];
  [element: string]: unknown;
}

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';

/**
 * Faults of an Observation with a code of the profiles, its own or of a component, or that claims one of them; empty
 * for any other. `claimed`: URLs of profiles, such as `meta.profile` of its source.
 */
export function vitalSignFaults(
  resource: { resourceType: string },
  claimed: readonly string[] = [],
): string[] {
  if (resource.resourceType !== 'Observation') return [];
  const observation = resource as Observation;
  const codes = [observation, ...(observation.component ?? [])].flatMap(({ code }) => loincCodes(code));
  const profiles = new Set([
    ...claimed.flatMap((url) => VITAL_SIGN_PROFILES.get(url.split('|')[0] ?? '') ?? []),
    ...codes.flatMap(profilesOfCode),
  ]);
  if (profiles.size === 0) return [];
  const categories = (observation.category ?? []).filter(isVitalSigns).length;
  return [
    ...(categories === 1 ? [] : [`category: ${categories} vital-signs`]),
    ...(observation.subject?.reference?.startsWith('Patient/') === true ? [] : ['subject: is no Patient']),
    ...effectiveFaults(observation),
    ...invariantFaults(resource, 'vitalsigns'),
    ...[...profiles].flatMap((profile) => [
      ...fixedFaults(observation, profile),
      ...profileFaults(resource, profile.name),
    ]),
  ];
}

function fixedFaults(observation: Observation, profile: VitalSignProfile): string[] {
  const { name, code, units, value, needsMembers, components } = profile;
  const own = Object.keys(observation).filter((element) => element.startsWith('value'));
  return [
    ...(code === undefined || loincCodes(observation.code).includes(code)
      ? []
      : [`${name}: code lacks ${code}`]),
    ...(value === 'forbidden' ? own.map((element) => `${name}: has ${element}`) : []),
    ...(value === 'required' && own.length === 0 ? [`${name}: value is required`] : []),
    ...(needsMembers && observation.hasMember === undefined ? [`${name}: has no members`] : []),
    ...unitFaults(observation, units),
    ...components.flatMap((component) => componentFaults(observation, name, component)),
  ];
}

function componentFaults(
  { component = [] }: Observation,
  name: string,
  { code, units }: VitalSignProfile['components'][number],
): string[] {
  const [found, another] = component.filter((one) => loincCodes(one.code).includes(code));
  if (found === undefined) return [`${name}: has no component ${code}`];
  if (another !== undefined) return [`${name}: has two components ${code}`];
  const says = Object.keys(found).some((element) => /^(value[A-Z]|dataAbsentReason$)/.test(element));
  return says ? unitFaults(found, units) : [`${name}: component ${code} has neither value nor reason`];
}

function effectiveFaults({ effectiveDateTime, effectivePeriod, _effectiveDateTime }: Observation): string[] {
  // An extension says that it is not known.
  if (_effectiveDateTime !== undefined) return [];
  const text = effectiveDateTime ?? (effectivePeriod as { start?: string } | undefined)?.start;
  return typeof text === 'string' && text.length >= 10 ? [] : ['effective[x]: is not there to the day'];
}

/** Where units are fixed there is no other kind of value. */
function unitFaults(measured: Measured, units: readonly string[]): string[] {
  if (units.length === 0) return [];
  const others = Object.keys(measured).filter((element) => /^value(?!Quantity)/.test(element));
  const { valueQuantity } = measured;
  if (valueQuantity === undefined) return others.map((element) => `${element}: is no quantity`);
  const { system, code: unit = '', value } = valueQuantity;
  return [
    ...(value === undefined ? ['valueQuantity: has no value'] : []),
    ...(valueQuantity.unit === undefined ? ['valueQuantity: has no unit'] : []),
    ...(system === UCUM && units.includes(unit)
      ? []
      : [`valueQuantity: ${unit} is not one of ${units.join(', ')}`]),
  ];
}

let profiles: ReadonlyMap<string, object> | undefined;

/** By @medplum/core, which wrongly rejects the slices of `bp`; that one is checked above. */
function profileFaults(resource: object, name: string): string[] {
  if (name === 'bp') return [];
  profiles ??= new Map(definitionsIn<{ id: string }>('profiles-others').map((one) => [one.id, one]));
  return structureFaults(resource, profiles.get(name)).map((fault) => `${name} ${fault}`);
}

function isVitalSigns({ coding = [] }: Concept): boolean {
  return coding.some(({ code }) => code === 'vital-signs');
}

function loincCodes(concept: Concept | undefined): string[] {
  return (concept?.coding ?? []).flatMap(({ system, code }) =>
    system === LOINC && code !== undefined ? [code] : [],
  );
}
