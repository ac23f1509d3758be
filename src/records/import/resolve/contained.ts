/**
 * What is kept of a contained resource that a reference leads to (https://hl7.org/fhir/R4/references.html#contained): it has
 * no identity of its own, so that only its identifier and its name can say who or what was meant.
 * Contract: IN-46.
 */
import type { CodeableConcept } from '../../../fhir/coded.ts';
import { displayName, type HumanName } from '../../../fhir/person.ts';
import type { JsonObject } from '../../../fhir/reading/json-resource.ts';
import type { IdentifierKey } from '../map/resource-importer.ts';
import { identifiersOf } from './record-id.ts';

interface Contained {
  type: string;
  /** Its first identifier with a system. */
  key: IdentifierKey | undefined;
  /** Its name, else the value of an identifier. */
  display: string | undefined;
}

/** Characters of a name at most, as of a part of one elsewhere. */
const NAME_MAX = 1_024;

/** The contained resource that `#id` names; undefined when there is none. */
export function findContained({ contained }: JsonObject, reference: string): Contained | undefined {
  const all: unknown[] = Array.isArray(contained) ? contained : [];
  const id = reference.slice(1);
  const found = all.find((one) => (one as JsonObject | null)?.id === id) as JsonObject | undefined;
  if (found === undefined) return undefined;
  const [key] = identifiersOf(found);
  const [first] = Array.isArray(found.identifier) ? found.identifier : [found.identifier];
  return {
    type: String(found.resourceType),
    key,
    display: nameOf(found) ?? storable(key?.value) ?? storable((first as JsonObject | undefined)?.value),
  };
}

/** It was not checked as a resource is that is taken, so that nothing in it can be relied on. */
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
