/**
 * What is kept of a contained resource that a reference leads to (https://hl7.org/fhir/R4/references.html#contained).
 * It has no identity of its own: only its identifier and its name say who or what was meant.
 * Contract: IN-46, IN-50.
 */
import type { CodeableConcept } from '../../../fhir/coded.ts';
import { displayName, type HumanName } from '../../../fhir/person.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';
import { identifiersOf } from './record-id.ts';

interface Contained {
  type: string;
  /** Its first identifier with a system. */
  key: IdentifierKey | undefined;
  /** Its name, else the value of an identifier. */
  display: string | undefined;
}

/** Characters of a name at most: as many as `src/fhir/reading/datatypes.ts` takes of one part. */
const NAME_MAX = 1_024;

/** Contained resources of one resource at most. */
const MAX_CONTAINED = 1_000;

/** Throws ResourceRejected when there are too many. */
export function requireFewContained({ contained }: JsonObject, path: string): void {
  if (Array.isArray(contained) && contained.length > MAX_CONTAINED)
    throw new ResourceRejected(
      `${path}.contained has more than ${MAX_CONTAINED} resources. Send some of them as resources of their own`,
    );
}

/**
 * The contained resources by what refers to them, `#id`; the first of those with the same id. Each is read once,
 * whatever the number of references.
 */
export function containedByReference({ contained }: JsonObject): ReadonlyMap<string, Contained> {
  const found = new Map<string, Contained>();
  for (const one of Array.isArray(contained) ? (contained as unknown[]) : []) {
    const { id, ...resource } = (one ?? {}) as JsonObject;
    if (typeof id === 'string' && !found.has(`#${id}`)) found.set(`#${id}`, describe(resource));
  }
  return found;
}

function describe(resource: JsonObject): Contained {
  const [key] = identifiersOf(resource);
  const [first] = Array.isArray(resource.identifier) ? resource.identifier : [resource.identifier];
  return {
    type: typeof resource.resourceType === 'string' ? resource.resourceType : '',
    key,
    display: nameOf(resource) ?? storable(key?.value) ?? storable((first as JsonObject | undefined)?.value),
  };
}

/** Nobody has checked a contained resource: any element may be there or not, and of any type. */
function nameOf({ name, deviceName, practitioner, code, type }: JsonObject): string | undefined {
  const [device] = Array.isArray(deviceName) ? deviceName : [];
  return (
    storable(name) ??
    (Array.isArray(name) ? personName(name) : undefined) ??
    storable((device as JsonObject | undefined)?.name) ??
    storable((practitioner as JsonObject | undefined)?.display) ??
    conceptName(code) ??
    conceptName(type)
  );
}

function personName(names: readonly unknown[]): string | undefined {
  try {
    return storable(displayName(names as HumanName[]));
  } catch {
    return undefined;
  }
}

function conceptName(concept: unknown): string | undefined {
  const { text, coding } = (concept ?? {}) as CodeableConcept;
  const [first] = Array.isArray(coding) ? coding : [];
  return storable(text) ?? storable(first?.display);
}

function storable(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > NAME_MAX) return undefined;
  return value.includes('\0') || !value.isWellFormed() ? undefined : value;
}
