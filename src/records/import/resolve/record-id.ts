/**
 * The id of a resource in its organisation. It follows from the resource alone, so that a second import of the same
 * file finds the same records, and `Patient/f001` resolves without a table of ids. What a facility stores it under is
 * decided in `place-ids.ts`.
 */
import { hash } from 'node:crypto';
import { ID_FORM } from '../../../fhir/reading/element-reader.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import { isUuid, uuidOfDigest } from '../../../platform/uuid.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';

/** Namespace of the UUIDs made here (RFC 9562, section 5.5). Never change it: ids depend on it. */
const NAMESPACE = Buffer.from('5d0c8a1e3f5b4d0f9a6b7c2e41f8d993', 'hex');
/** FHIR R4 datatypes, "id". */
const FHIR_ID = /^[A-Za-z0-9\-.]{1,64}$/;

export function isFhirId(text: string): boolean {
  return FHIR_ID.test(text);
}

/** A UUID stays (lower-case); any other source id becomes a UUIDv5 of the resource type and that id. */
export function recordId(resourceType: string, sourceId: string): string {
  return isUuid(sourceId) ? sourceId.toLowerCase() : nameUuid(`${resourceType}/${sourceId}`);
}

/**
 * The id of a resource: its own, else the one its fullUrl names, else one made from its first identifier with
 * a system, else one made from its content, with the digits of its numbers: `exact` reads it again where they count.
 * Throws ResourceRejected when the id given is not a FHIR id.
 */
export function recordIdOf(
  resource: JsonObject,
  resourceType: string,
  fullUrl: string | undefined,
  exact: () => unknown = () => resource,
): string {
  const { id } = resource;
  if (id !== undefined) {
    if (typeof id !== 'string' || !isFhirId(id))
      throw new ResourceRejected(`${resourceType}.id is not a FHIR id: ${ID_FORM}`);
    return recordId(resourceType, id);
  }
  const named = idInUrl(fullUrl, resourceType);
  if (named !== undefined) return recordId(resourceType, named);
  const [first] = identifiersOf(resource);
  if (first !== undefined) return identifierName(resourceType, first);
  const digest = hash('sha256', JSON.stringify(exact()));
  return nameUuid(`${resourceType}#${digest}`);
}

/** True when the sender named the resource by a UUID, which is then its id. */
export function hasUuid({ id }: JsonObject, resourceType: string, fullUrl: string | undefined): boolean {
  const given = id ?? idInUrl(fullUrl, resourceType);
  return typeof given === 'string' && isUuid(given);
}

/** The id of a facility's own record, made of the id in the organisation. */
export function facilityRecordId(facilityId: string, id: string): string {
  return nameUuid(`${facilityId}/${id}`);
}

/** What names a record of a type that carries the identifier, whatever its id is. */
export function identifierName(type: string, key: IdentifierKey): string {
  return nameUuid(identifierText(type, key));
}

export function identifierText(type: string, { system, value }: IdentifierKey): string {
  return `${type}?${system}|${value}`;
}

/** The identifiers of a resource that have a system and a value, as far as they are well formed and can be looked for. */
export function identifiersOf(resource: JsonObject): IdentifierKey[] {
  const { identifier } = resource;
  const all: unknown[] = Array.isArray(identifier) ? identifier : [identifier];
  return all.flatMap((item) => {
    const { system, value } = (item ?? {}) as { system?: unknown; value?: unknown };
    const complete = typeof system === 'string' && typeof value === 'string' && system !== '' && value !== '';
    // PostgreSQL has no text with NUL.
    return complete && !`${system}${value}`.includes('\0') ? [{ system, value }] : [];
  });
}

function idInUrl(fullUrl: string | undefined, resourceType: string): string | undefined {
  if (fullUrl === undefined) return undefined;
  if (fullUrl.startsWith('urn:uuid:')) {
    const uuid = fullUrl.slice('urn:uuid:'.length);
    return isUuid(uuid) ? uuid : undefined;
  }
  const [type, id = ''] = fullUrl.split('/').slice(-2);
  return type === resourceType && isFhirId(id) ? id : undefined;
}

function nameUuid(name: string): string {
  return uuidOfDigest(hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'buffer'), 5);
}
