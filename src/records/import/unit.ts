/**
 * What the import holds about one Bundle, or about one run of single resources: where each resource stands,
 * what it will be stored as, and how the others refer to it. The resources themselves are read again when
 * their turn comes.
 */

import { identifierQuery, withoutVersion } from './parse-reference.ts';
import { identifiersOf } from './record-id.ts';
import {
  type IdentifierKey,
  type JsonObject,
  type ResourceImporter,
  ResourceRejected,
  type Target,
  type UnitContext,
} from './resource-importer.ts';
import type { EntryRange } from './source/read-entries.ts';

/** A resource that is to be taken. */
export interface UnitEntry extends EntryRange {
  importer: ResourceImporter;
  /** Shared by everything that refers to this entry; a conditional create may give it another id. */
  target: { type: string; id: string };
  fullUrl: string | undefined;
  /** `request.ifNoneExist`, or the condition of a conditional PUT. */
  condition: { key: IdentifierKey; kind: 'create' | 'update' } | undefined;
  /** False when the record that it stands for is there already and is not to be changed. */
  writes: boolean;
}

/** A Bundle entry or single resource, parsed (numbers may have lost digits: for finding, not for keeping). */
export interface SeenEntry {
  resource: JsonObject;
  resourceType: string;
  fullUrl: string | undefined;
  request: JsonObject | undefined;
}

const RESOURCE_TYPE = /^[A-Z][A-Za-z]{1,63}$/;

export class Unit implements UnitContext {
  readonly entries: UnitEntry[] = [];
  /** Resources of types that are not taken, by type. */
  readonly notTaken = new Map<string, number>();
  /** Entries whose resource is in the Bundle already, word for word, by type. */
  readonly repeated = new Map<string, number>();
  readonly #targets = new Map<string, UnitEntry>();
  readonly #identifiers = new Map<string, Set<UnitEntry>>();
  readonly #others = new Set<string>();
  readonly #states = new Map<string, unknown>();

  state<T>(key: string, create: () => T): T {
    if (!this.#states.has(key)) this.#states.set(key, create());
    return this.#states.get(key) as T;
  }

  find(reference: string): Target | undefined {
    return this.#targets.get(withoutVersion(reference))?.target;
  }

  /** True when the reference is to an entry of a type that is not taken. */
  isOther(reference: string): boolean {
    return this.#others.has(withoutVersion(reference));
  }

  /** Note an entry of a type that is not taken. */
  addOther({ resourceType, fullUrl }: SeenEntry): void {
    count(this.notTaken, resourceType);
    if (fullUrl !== undefined) this.#others.add(withoutVersion(fullUrl));
  }

  /** Distinct records of this unit that carry the identifier. */
  findByIdentifier(type: string, key: IdentifierKey): Target[] {
    const entries = this.#identifiers.get(identifierText(type, key)) ?? [];
    return [...new Map([...entries].map(({ target }) => [target.id, target])).values()];
  }

  /** The entry that is stored under the same type and id. */
  sameRecord(type: string, id: string): UnitEntry | undefined {
    return this.#targets.get(`${type}/${id}`);
  }

  /** Note an entry, to be stored under `id`. Throws ResourceRejected when it cannot be taken. */
  add(range: EntryRange, seen: SeenEntry, importer: ResourceImporter, id: string): UnitEntry {
    const { resource, resourceType, fullUrl } = seen;
    const condition = conditionOf(seen);
    const target = { type: resourceType, id };
    const entry: UnitEntry = { ...range, importer, target, fullUrl, condition, writes: true };
    this.entries.push(entry);
    this.#targets.set(`${resourceType}/${id}`, entry);
    if (typeof resource.id === 'string') this.#targets.set(`${resourceType}/${resource.id}`, entry);
    if (fullUrl !== undefined) this.#targets.set(withoutVersion(fullUrl), entry);
    for (const key of identifiersOf(resource)) this.#addIdentifier(identifierText(resourceType, key), entry);
    importer.index?.(resource, { id, entry: range.number, fullUrl, unit: this });
    return entry;
  }

  #addIdentifier(text: string, entry: UnitEntry): void {
    const entries = this.#identifiers.get(text);
    if (entries === undefined) this.#identifiers.set(text, new Set([entry]));
    else entries.add(entry);
  }
}

/** Add `count` to the number kept for `name`. */
export function count(counts: Map<string, number>, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** A Bundle entry, checked as far as every entry must be. Throws ResourceRejected. */
export function seenEntry(entry: unknown): SeenEntry {
  const { fullUrl, resource, request } = asObject(entry, 'The entry');
  if (fullUrl !== undefined && typeof fullUrl !== 'string')
    throw new ResourceRejected('fullUrl is not a string');
  if (resource === undefined) throw new ResourceRejected('The entry has no resource');
  return {
    ...seenResource(resource),
    fullUrl,
    request: request === undefined ? undefined : asObject(request, 'request'),
  };
}

/** A resource by itself. Throws ResourceRejected. */
export function seenResource(value: unknown): SeenEntry {
  const resource = asObject(value, 'The resource');
  const { resourceType } = resource;
  if (typeof resourceType !== 'string' || !RESOURCE_TYPE.test(resourceType))
    throw new ResourceRejected('resourceType is missing or names no FHIR resource');
  return { resource, resourceType, fullUrl: undefined, request: undefined };
}

/** What a Bundle entry asks for (R4, Bundle.entry.request): a create, an update, or either on a condition. */
function conditionOf({ request, resourceType }: SeenEntry): UnitEntry['condition'] {
  if (request === undefined) return undefined;
  const { method, url, ifNoneExist } = request;
  if (method !== 'POST' && method !== 'PUT')
    throw new ResourceRejected('request.method is neither POST nor PUT; nothing else is taken');
  if (method === 'POST' && ifNoneExist === undefined) return undefined;
  if (method === 'PUT' && !(typeof url === 'string' && url.includes('?'))) return undefined;
  const query = method === 'POST' ? ifNoneExist : String(url).slice(String(url).indexOf('?') + 1);
  const key = typeof query === 'string' ? identifierQuery(query.slice(query.indexOf('?') + 1)) : undefined;
  if (key === undefined)
    throw new ResourceRejected(
      `${method === 'POST' ? 'request.ifNoneExist' : 'request.url'} of this ${resourceType} is not of the form identifier=system|value`,
    );
  return { key, kind: method === 'POST' ? 'create' : 'update' };
}

function asObject(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ResourceRejected(`${what} is not a JSON object`);
  return value as JsonObject;
}

function identifierText(type: string, { system, value }: IdentifierKey): string {
  return `${type} ${system}|${value}`;
}
