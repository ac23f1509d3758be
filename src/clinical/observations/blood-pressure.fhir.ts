/**
 * Blood pressure is one Observation with a component for each pressure, whatever its source made of it
 * (https://hl7.org/fhir/R4/bp.html). Pure.
 * Contract: FETCH-9, FETCH-29.
 */
import {
  type CodeableConcept,
  type Coding,
  type Identifier,
  isOwnIdentifier,
  type Reference,
} from '../../fhir/coded.ts';
import { parseDateTime } from '../../fhir/date-time.ts';
import { officialDisplay } from '../../terminology/lookup/code-systems.ts';
import type { Annotation } from '../description/pointer.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import { loincCodes, loincCoding, UNKNOWN, valueName, valueText } from './vital-value.fhir.ts';

export const BLOOD_PRESSURE = '85354-9';
export const SYSTOLIC = '8480-6';
export const DIASTOLIC = '8462-4';
const PRESSURES = [SYSTOLIC, DIASTOLIC];
/** LOINC codes of both together that sources send in place of {@link BLOOD_PRESSURE}. */
export const NARROWER_PANELS = ['55284-4', '35094-2'];
const PANELS = [BLOOD_PRESSURE, ...NARROWER_PANELS];
/** LOINC codes of what may be one with another Observation of its vital set. */
export const JOINED_CODES = [...PANELS, ...PRESSURES];

export interface Component extends Record<string, unknown> {
  code: CodeableConcept;
}

/** One component, or its notes alone. */
export interface Part {
  component?: Component;
  notes: Annotation[];
}

/** True for the panel that holds systolic and diastolic pressure. */
export function isBloodPressure(concept: CodeableConcept): boolean {
  return loincCodes(concept).some((code) => PANELS.includes(code));
}

/** Which pressure an Observation is; undefined when it has components or members, or is both or neither. */
function singlePressure({ code, component, hasMember }: FhirResource): string | undefined {
  if (component !== undefined || hasMember !== undefined) return undefined;
  return namedPressure(code as CodeableConcept);
}

/** Which pressure a code names; undefined when it names both or neither. */
function namedPressure(code: CodeableConcept): string | undefined {
  const codes = loincCodes(code);
  const [pressure, another] = PRESSURES.filter((one) => codes.includes(one));
  return another === undefined ? pressure : undefined;
}

/** True for a blood pressure, which may be one with another of its vital set. */
export function mayBeJoined({ code }: FhirResource): boolean {
  return loincCodes(code as CodeableConcept).some((one) => JOINED_CODES.includes(one));
}

/**
 * A panel of an Observation whose code is one pressure: that is its first component, before those that it has. Any other
 * Observation as it is.
 */
export function asPanel(resource: FhirResource): FhirResource {
  if (!isPressure(resource)) return resource;
  const {
    code,
    dataAbsentReason,
    interpretation,
    referenceRange,
    component: others = [],
    ...shared
  } = resource;
  const { coding = [], ...text } = code as CodeableConcept;
  const isOfPanel = (one: Coding) => isBloodPressure({ coding: [one] });
  const panel = [
    loincCoding(BLOOD_PRESSURE),
    ...coding.filter((one) => isOfPanel(one) && one.code !== BLOOD_PRESSURE),
  ];
  const name = valueName(resource);
  // It has no value of the pressure itself. A component may.
  if (name === undefined && singlePressure(resource) === undefined) {
    const apart = coding.filter((one) => !isOfPanel(one) && namedPressure({ coding: [one] }) === undefined);
    return { ...resource, code: { coding: [...panel, ...apart], ...text } };
  }
  const component = {
    code: { coding: coding.filter((one) => !isOfPanel(one)), ...text },
    ...(name === undefined ? {} : { [name]: resource[name] }),
    dataAbsentReason,
    interpretation,
    referenceRange,
  };
  return {
    ...shared,
    code: { coding: panel },
    ...(name === undefined ? {} : { [name]: undefined }),
    component: [component, ...(others as Component[])],
  } as unknown as FhirResource;
}

/** One pressure alone, or with components or members that are not said to be those of a panel. */
function isPressure(resource: FhirResource): boolean {
  const code = resource.code as CodeableConcept;
  if (singlePressure(resource) !== undefined) return true;
  return namedPressure(code) !== undefined && !isBloodPressure(code);
}

/** An Observation of a vital set. */
export interface SetMember {
  resource: FhirResource;
  /** True for a result of an order, which the answer of that order shows as it is. */
  inOrder: boolean;
}

/**
 * The Observations of one vital set, a systolic and a diastolic pressure as one (docs/adr/0114). The one has the id of
 * the panel that has them as members, else of the systolic pressure. {@link TOLD_BY} tells which of several belong
 * together; those that nothing tells apart stay by themselves.
 */
export function joinPressures(members: readonly SetMember[]): FhirResource[] {
  const free = members.flatMap(({ resource, inOrder }) => (inOrder ? [] : [resource]));
  const homes = new Map(intoPanels(free));
  const left = free.filter((resource) => !homes.has(resource) && singlePressure(resource) !== undefined);
  for (const [diastolic, systolic] of pairs(left)) homes.set(diastolic, systolic);
  if (homes.size === 0) return members.map(({ resource }) => resource);
  const parts = Map.groupBy(homes.keys(), (part) => homes.get(part));
  const joined = members.flatMap(({ resource }) => {
    if (homes.has(resource)) return [];
    const own = parts.get(resource) ?? [];
    return own.length === 0 ? resource : own.map(asPanel).reduce(joinedWith, asPanel(resource));
  });
  const ids = new Map(
    [...homes].flatMap(([part, { id }]) => [part.id, id].map((one) => [`Observation/${one}`, id])),
  );
  return joined.map((resource) => withReferences(resource, ids));
}

/** The first systolic and the first diastolic member of each panel without components, each with that panel. */
function* intoPanels(free: readonly FhirResource[]): Generator<[FhirResource, FhirResource]> {
  const byName = new Map(free.map((resource) => [`Observation/${resource.id}`, resource]));
  const isEmptyPanel = ({ component, code }: FhirResource) =>
    component === undefined && isBloodPressure(code as CodeableConcept);
  for (const panel of free.filter(isEmptyPanel)) {
    const wanted = new Set(PRESSURES);
    for (const { reference = '' } of (panel.hasMember ?? []) as Reference[]) {
      const member = byName.get(reference);
      const pressure = member === undefined ? undefined : singlePressure(member);
      if (member === undefined || pressure === undefined || !wanted.has(pressure)) continue;
      if (!agree(panel, member)) continue;
      wanted.delete(pressure);
      yield [member, panel];
    }
  }
}

/** Each diastolic pressure with the systolic one that it belongs to. */
function* pairs(singles: readonly FhirResource[]): Generator<[FhirResource, FhirResource]> {
  const alike = [...Map.groupBy(singles, (one) => JSON.stringify(told(one))).values()];
  const rest: FhirResource[] = [];
  for (const group of alike) {
    const pair = onePair(group);
    if (pair === undefined) rest.push(...group);
    else yield pair;
  }
  const pair = onePair(rest);
  if (pair !== undefined && agree(...pair)) yield pair;
}

function onePair(singles: readonly FhirResource[]): [FhirResource, FhirResource] | undefined {
  const [systolic, ...moreSystolic] = singles.filter((one) => singlePressure(one) === SYSTOLIC);
  const [diastolic, ...moreDiastolic] = singles.filter((one) => singlePressure(one) === DIASTOLIC);
  if (systolic === undefined || diastolic === undefined) return undefined;
  return moreSystolic.length + moreDiastolic.length > 0 ? undefined : [diastolic, systolic];
}

/** Elements that an Observation has once and that can tell two measurements of one set apart. */
const TOLD_BY = ['status', 'bodySite', 'method', 'device', 'specimen'];
const TOLD_BY_EXTENSIONS = ['bodyPosition', 'deviceCode'];

/** All of a set begin at one instant, so what tells their times apart is how long they took. */
function duration({ effectivePeriod, effectiveTiming }: FhirResource): unknown {
  return effectivePeriod ?? effectiveTiming ?? null;
}

/** What it is about, where that is not the patient (R4, "Observation.focus"). */
function focus(resource: FhirResource): unknown {
  return resource.focus ?? extension(resource, 'focusCode') ?? null;
}

function extension({ extension: given }: FhirResource, name: string): unknown {
  const url = `http://hl7.org/fhir/StructureDefinition/observation-${name}`;
  return ((given ?? []) as { url: string }[]).find((one) => one.url === url);
}

/** Whether they took equally long, are about the same, and differ in none of what tells them apart that both have. */
function agree(a: FhirResource, b: FhirResource): boolean {
  const [ours, theirs] = [told(a), told(b)];
  return ours.every((_, n) => ours[n] === undefined || theirs[n] === undefined || ours[n] === theirs[n]);
}

/** Written once for each Observation: a panel may have a hundred thousand members. */
const WRITTEN = new WeakMap<FhirResource, (string | undefined)[]>();

function told(resource: FhirResource): (string | undefined)[] {
  const known = WRITTEN.get(resource);
  if (known !== undefined) return known;
  const written = [
    duration(resource),
    focus(resource),
    ...TOLD_BY.map((name) => resource[name]),
    ...TOLD_BY_EXTENSIONS.map((name) => extension(resource, name)),
  ].map((one) => JSON.stringify(one));
  WRITTEN.set(resource, written);
  return written;
}

/** Both, under the id of the first. Of two times of issue it is the later one: before it the whole was not there. */
function joinedWith(panel: FhirResource, whole: FhirResource): FhirResource {
  const part = withoutOwnIdentifier(whole);
  const { hasMember, ...both } = { ...part, ...panel } as Record<string, unknown>;
  for (const [name, theirs] of Object.entries(part)) {
    const ours = panel[name];
    if (Array.isArray(ours) && Array.isArray(theirs)) both[name] = union(ours, theirs);
  }
  const issued = [panel.issued, part.issued].filter((one) => one !== undefined).map(String);
  const [first, second] = issued;
  if (first !== undefined && second !== undefined) both.issued = isEarlier(first, second) ? second : first;
  const others = ((hasMember ?? []) as Reference[]).filter(
    ({ reference }) => reference !== `Observation/${part.id}`,
  );
  return { ...both, ...(others.length === 0 ? {} : { hasMember: others }) } as FhirResource;
}

/** Of two FHIR instants, which have a zone of their own. */
function isEarlier(first: string, second: string): boolean {
  const [one, other] = [first, second].map((text) => parseDateTime(text)?.span('UTC').start);
  return one !== undefined && other !== undefined && one < other;
}

/** Our identifier of a part is not that of the whole: a publish finds the part by it when it stands alone again. */
function withoutOwnIdentifier({ identifier, ...part }: FhirResource): FhirResource {
  const others = ((identifier ?? []) as Identifier[]).filter((one) => !isOwnIdentifier(one, part.id));
  return (others.length === 0 ? part : { ...part, identifier: others }) as FhirResource;
}

/** Each item once. */
function union(ours: readonly unknown[], theirs: readonly unknown[] = []): unknown[] {
  return [...new Map([...ours, ...theirs].map((one) => [JSON.stringify(one), one])).values()];
}

/** What refers to a pressure that was joined refers to what it is in now; the one itself does not. */
function withReferences(resource: FhirResource, ids: ReadonlyMap<string, string>): FhirResource {
  const changed = Object.entries(resource).flatMap(([name, value]) => {
    if (!Array.isArray(value) || !value.some(({ reference }) => ids.has(reference))) return [];
    const led = (value as Reference[]).flatMap((one) => {
      const id = ids.get(one.reference ?? '');
      if (id === undefined) return one;
      return id === resource.id ? [] : { ...one, reference: `Observation/${id}` };
    });
    return [[name, led.length === 0 ? undefined : union(led)] as const];
  });
  return changed.length === 0 ? resource : { ...resource, ...Object.fromEntries(changed) };
}

/** Systolic and diastolic pressure once each, and the other components; a second one of either is said in words. */
export function bothPressures(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  const once = parts.map((part): Part => {
    const codes = part.component === undefined ? [] : loincCodes(part.component.code);
    const pressure = PRESSURES.find((code) => codes.includes(code));
    if (pressure === undefined || part.component === undefined) return part;
    if (seen.has(pressure)) return alsoReported(pressure, part.component, part.notes);
    seen.add(pressure);
    return part;
  });
  return [...once, ...PRESSURES.filter((code) => !seen.has(code)).map(absentPressure)];
}

function alsoReported(code: string, component: Component, notes: Annotation[]): Part {
  const name = valueName(component);
  if (name === undefined) return { notes };
  const text = `Also reported: ${officialDisplay(code) ?? code} ${valueText(component[name])}`;
  return { notes: [...notes, { text }] };
}

function absentPressure(code: string): Part {
  return { component: { code: { coding: [loincCoding(code)] }, dataAbsentReason: UNKNOWN }, notes: [] };
}
