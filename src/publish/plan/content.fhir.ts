/**
 * What is sent of a resource: order, references, identifiers, body (docs/adr/0050). Pure.
 * Contract: PUB-21, PUB-22.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { type Identifier, ownIdentifier, type Reference } from '../../fhir/coded.ts';
import { referencesIn } from '../../fhir/reference.ts';
import { sendingStageOf } from './resource-types.ts';

/** `Type/id` of a record of ours. */
export type ResourceKey = `${string}/${string}`;

export function keyOf({ resourceType, id }: { resourceType: string; id: string }): ResourceKey {
  return `${resourceType}/${id}`;
}

export function splitKey(key: ResourceKey): { type: string; id: string } {
  const at = key.indexOf('/');
  return { type: key.slice(0, at), id: key.slice(at + 1) };
}

const RELATIVE = /^[A-Z][A-Za-z]{2,40}\/[A-Za-z0-9\-.]{1,64}$/;

/** Every record that a resource refers to by `Type/id`; the resource as `JSON.stringify` writes it. */
export function referencedKeys(json: string): Set<ResourceKey> {
  return new Set(referencesIn(json) as IteratorObject<ResourceKey>);
}

/** The resource with references replaced; `replace` answers undefined for those that stay as they are. */
export function rewriteReferences(
  resource: FhirResource,
  replace: (key: ResourceKey, reference: Reference) => Reference | undefined,
): FhirResource {
  return rewritten(resource, replace) as FhirResource;
}

function rewritten(value: unknown, replace: Parameters<typeof rewriteReferences>[1]): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => rewritten(item, replace));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlain(value)) return value;
  const named = isRelative(value.reference) ? replace(value.reference, value as Reference) : undefined;
  const given = (named ?? value) as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(given)) {
    if (typeof member !== 'object') continue;
    const changed = rewritten(member, replace);
    if (changed === member) continue;
    copy ??= { ...given };
    copy[name] = changed;
  }
  return copy ?? given;
}

/** A reference by business identifier (FHIR R4, "Logical references"). */
export function logicalReference(
  type: string,
  { system, value }: BusinessIdentifier,
  display: string | undefined,
): Reference {
  const named = { type, identifier: { system, value } };
  return display === undefined ? named : { ...named, display };
}

interface BusinessIdentifier {
  system: string;
  value: string;
}

/** The identifier that others know the record by: official, usual, then the first; ours where there is none. */
export function businessIdentifier(
  organisationId: string,
  resource: FhirResource | undefined,
  id: string,
): BusinessIdentifier {
  const all = ((resource?.identifier ?? []) as Identifier[]).filter(
    (one): one is Identifier & BusinessIdentifier =>
      one.system !== undefined && one.value !== undefined && one.use !== 'old' && one.use !== 'temp',
  );
  const used = (wanted: string) => all.find(({ use }) => use === wanted);
  return used('official') ?? used('usual') ?? all[0] ?? ownIdentifier(organisationId, id);
}

/** The resource with our own identifier among its identifiers: what a conditional create and a search go by. */
export function withOwnIdentifier(resource: FhirResource, organisationId: string): FhirResource {
  const own = ownIdentifier(organisationId, resource.id);
  const given = (resource.identifier ?? []) as Identifier[];
  return hasIdentifier(given, own) ? resource : { ...resource, identifier: [...given, own] };
}

export function hasIdentifier(
  given: readonly { system?: unknown; value?: unknown }[],
  { system, value }: Identifier,
): boolean {
  return given.some((one) => one.system === system && one.value === value);
}

/** Without the version and time that are ours: the server gives its own (FHIR R4, "Resource.meta"). */
export function withoutOwnVersion(resource: FhirResource): FhirResource {
  if (resource.meta === undefined) return resource;
  const { meta, ...rest } = resource;
  const { versionId: _versionId, lastUpdated: _lastUpdated, ...kept } = meta as Record<string, unknown>;
  if (Object.keys(kept).length === 0) return rest as FhirResource;
  return { ...rest, meta: kept } as FhirResource;
}

/** The resource under the id that the server knows, or without one. */
export function contentOf(resource: FhirResource, serverId: string | undefined): object {
  return serverId === resource.id ? resource : { ...resource, id: serverId };
}

const texts = new WeakMap<object, string>();

/** A resource as JSON. It is written once, because a loaded resource does not change. */
export function jsonOf(resource: object): string {
  const json = texts.get(resource) ?? JSON.stringify(resource);
  texts.set(resource, json);
  return json;
}

/** What a write sends. */
export function sentBody(resource: FhirResource, serverId: string | undefined): string {
  return jsonOf(contentOf(resource, serverId));
}

/** A resource, and what it refers to. */
interface Linked {
  resource: FhirResource;
  key: ResourceKey;
  refersTo: ReadonlySet<ResourceKey>;
}

/**
 * Resources in levels: those of one level do not refer to each other and may be sent at once. Within a stage,
 * what is referred to comes first; those that refer to each other in a circle go last, together.
 */
export function publishLevels(resources: readonly FhirResource[]): Linked[][] {
  const stages = Map.groupBy(resources.map(linked), ({ resource }) => sendingStageOf(resource.resourceType));
  return [...stages.keys()].sort((a, b) => a - b).flatMap((stage) => stageLevels(stages.get(stage) ?? []));
}

function linked(resource: FhirResource): Linked {
  return { resource, key: keyOf(resource), refersTo: referencedKeys(jsonOf(resource)) };
}

function stageLevels(resources: readonly Linked[]): Linked[][] {
  const levels: Linked[][] = [];
  const waiting = new Map(resources.map((item) => [item.key, item]));
  while (waiting.size > 0) {
    const left = [...waiting.values()];
    const ready = left.filter(({ key, refersTo }) =>
      refersTo.values().every((other) => other === key || !waiting.has(other)),
    );
    const level = ready.length > 0 ? ready : left;
    for (const { key } of level) waiting.delete(key);
    levels.push(level);
  }
  return levels;
}

function isRelative(value: unknown): value is ResourceKey {
  return typeof value === 'string' && RELATIVE.test(value);
}

/** Not a list, and not a Decimal. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
