/** Resources that have every element of R4, for tests: made from HL7's StructureDefinitions. */
import { definitionsIn } from '../fhir/definitions.ts';

interface ElementDefinition {
  path: string;
  max: string;
  type?: { code: string; profile?: string[]; targetProfile?: string[] }[];
  contentReference?: string;
  binding?: { strength: string; valueSet?: string };
}
interface Conformance {
  resourceType: string;
  id: string;
  url: string;
  snapshot?: { element: ElementDefinition[] };
  compose?: { include: { system?: string; concept?: { code: string }[] }[] };
  concept?: { code: string }[];
}

const TYPES = new Map(
  ['profiles-resources', 'profiles-types']
    .flatMap((file) => definitionsIn<Conformance>(file))
    .filter(({ resourceType }) => resourceType === 'StructureDefinition')
    .map((definition) => [definition.id, definition.snapshot?.element ?? []]),
);
const CODED = new Map(definitionsIn<Conformance>('valuesets').map((one) => [one.url, one]));

/** A value of each primitive type. Codes and addresses are below. */
const PRIMITIVES: Readonly<Record<string, unknown>> = {
  boolean: true,
  integer: 1,
  positiveInt: 1,
  unsignedInt: 1,
  decimal: 1,
  date: '2024-05-01',
  dateTime: '2024-05-01T10:00:00Z',
  instant: '2024-05-01T10:00:00Z',
  time: '10:00:00',
  base64Binary: 'YQ==',
  oid: 'urn:oid:1.2.3',
  string: 'text',
  markdown: 'text',
  id: 'text',
};
/** It has no comparator (R4 invariant sqty-1). */
const SIMPLE_QUANTITY = 'http://hl7.org/fhir/StructureDefinition/SimpleQuantity';
/** It has the UCUM code of a unit of time (R4 invariant drt-1). */
const HOURS = { system: 'http://unitsofmeasure.org', code: 'h' };
const URIS = ['uri', 'url', 'canonical', 'uuid'];
/** What every resource has, or every element. */
const OF_RESOURCES = [
  'id',
  'extension',
  'modifierExtension',
  'meta',
  'implicitRules',
  'language',
  'text',
  'contained',
];
const OF_ELEMENTS = ['id', 'extension', 'modifierExtension'];

/** The members of a resource or data type with each of its elements; of an element with several types, the first. */
export function withEveryElement(type: string): Record<string, unknown> {
  return membersOf(TYPES.get(type) ?? [], type);
}

function membersOf(elements: readonly ElementDefinition[], parent: string): Record<string, unknown> {
  const own = elements.filter(
    ({ path }) => path.startsWith(`${parent}.`) && !path.slice(parent.length + 1).includes('.'),
  );
  const isResource = own.some(({ path }) => path === `${parent}.implicitRules`);
  const members = own.flatMap((element) => {
    const name = element.path.slice(parent.length + 1);
    if ((isResource ? OF_RESOURCES : OF_ELEMENTS).includes(name)) return [];
    const [first] = element.type ?? [];
    if (first === undefined) return [];
    const example = exampleValue(element, first.code, elements);
    const isSimple = first.profile?.includes(SIMPLE_QUANTITY) === true;
    const value = isSimple ? { ...(example as object), comparator: undefined } : example;
    const plain = name.endsWith('[x]')
      ? `${name.slice(0, -3)}${first.code[0]?.toUpperCase()}${first.code.slice(1)}`
      : name;
    return [[plain, element.max === '1' || element.max === '0' ? value : [value]] as const];
  });
  return Object.fromEntries(members);
}

function exampleValue(
  { path, binding }: ElementDefinition,
  type: string,
  elements: readonly ElementDefinition[],
): unknown {
  if (type === 'BackboneElement' || type === 'Element') return membersOf(elements, path);
  if (type === 'code') return codeOf(binding?.valueSet);
  if (type === 'Reference') return { reference: 'Basic/none', display: 'text' };
  if (URIS.includes(type)) return 'https://clinic.example/uri';
  if (type === 'Duration') return { ...withEveryElement(type), ...HOURS };
  return PRIMITIVES[type] ?? withEveryElement(type);
}

function codeOf(valueSet: string | undefined): string {
  const [include] = CODED.get(valueSet?.split('|')[0] ?? '')?.compose?.include ?? [];
  const [first] = include?.concept ?? CODED.get(include?.system ?? '')?.concept ?? [];
  return first?.code ?? 'text';
}
