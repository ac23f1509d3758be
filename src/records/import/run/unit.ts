/**
 * What the import holds about one Bundle, or about one run of single resources: where each resource stands,
 * what it will be stored as, and how the others refer to it. The resources themselves are read again when
 * their turn comes.
 * Contract: IN-6, IN-57.
 */

import type { ReferencedRecord } from '../../../clinical/description/read-context.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import { RESOURCE_TYPES } from '../../../fhir/resource-types.ts';
import { nameMeant } from '../../../platform/name-meant.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { countedName } from '../map/element-tally.ts';
import { IMPORTERS } from '../map/importers.ts';
import type { IdentifierKey, ImportReach } from '../map/record-lookup.ts';
import type { ResourceImporter } from '../map/resource-importer.ts';
import { identifierQuery, parseReference, withoutVersion } from '../resolve/parse-reference.ts';
import { hasUuid, identifierName, identifiersOf, recordId } from '../resolve/record-id.ts';
import type { EntryRange } from '../source/read-entries.ts';
import type { Spool } from '../source/spool.ts';
import type { KnownRecords } from '../wait/waiting.store.ts';
import type { DryRun } from '../write/dry-run-tables.store.ts';

/** A resource that is to be taken. There may be very many: what can be read again is not held here. */
export interface UnitEntry extends EntryRange {
  importer: ResourceImporter;
  /** In the organisation (`record-id.ts`): what the source calls it. */
  id: string;
  /** What it is stored under, shared by everything that refers to this entry. */
  target: { type: string; id: string };
  /** True when its fullUrl is `urn:uuid:` and the id. */
  namedById: boolean;
  /** True when the source named it by a UUID. */
  hasUuid: boolean;
  /** `request.ifNoneExist`, or the condition of a conditional PUT. */
  condition: { key: IdentifierKey; kind: 'create' | 'update' } | undefined;
  /** What its Bundle had under references, where it came in another one and is taken once more. */
  known?: KnownRecords;
  /** False when the record that it stands for is there already and is not to be changed. */
  writes: boolean;
}

/** What a unit needs to know of its import. */
export interface UnitRun {
  /** Names the import. */
  runId: string;
  scope: FacilityScope;
  reach: ImportReach;
  /** The tables of a dry run; undefined where what is written is kept. */
  dryRun: DryRun | undefined;
  /** True while referenced records that are not there may come with what is imported later. */
  moreToCome: boolean;
  /**
   * True when units are taken again because what they left out may have come: they are counted already, and only what
   * still waits as this import left it is written.
   */
  again: boolean;
  /**
   * Where its entries are among those of the import: the source, or the source and the line. Undefined where no other unit
   * has the same records.
   */
  place: readonly number[] | undefined;
  /** URLs of modifier extensions and implicit rules that are understood. */
  understood: ReadonlySet<string>;
}

export interface UnitRequest extends UnitRun {
  unit: Unit;
  spool: Spool;
}

/** What is told of an entry: why it is rejected, or is to be looked at. */
export interface EntryReason {
  entry: UnitEntry;
  reason: string;
}

/** A Bundle entry or single resource, parsed (numbers may have lost digits: for finding, not for keeping). */
export interface SeenEntry {
  resource: JsonObject;
  resourceType: string;
  fullUrl: string | undefined;
  request: JsonObject | undefined;
}

/** Memory of an entry and of a name or identifier of it, roughly, beside their characters. */
const ENTRY_BYTES = 300;
const NAME_BYTES = 100;
export const RESOURCE_TYPE = /^[A-Z][A-Za-z]{1,63}$/;

/** Rejected entries that are listed for one Bundle at most. */
export const BUNDLE_REASONS = 20;

export class Unit {
  /** True when its entries are those of a Bundle; else they are resources by themselves. */
  readonly isBundle: boolean;
  readonly entries: UnitEntry[] = [];
  /** Resources of types that are not taken, by type. */
  readonly notTaken = new Map<string, number>();
  /** Entries whose resource is in the Bundle already, word for word, by type. */
  readonly repeated = new Map<string, number>();
  /** By the id of each in the organisation. */
  readonly #byId = new Map<string, UnitEntry | UnitEntry[]>();
  /** By fullUrl, unless that is `urn:uuid:` and the id. */
  readonly #byUrl = new Map<string, UnitEntry>();
  /** By value, for each resource type and system. */
  readonly #byIdentifier = new Map<string, Map<string, UnitEntry | UnitEntry[]>>();
  readonly #others = new Set<string>();
  #heldBytes = 0;

  constructor({ isBundle = false }: { isBundle?: boolean } = {}) {
    this.isBundle = isBundle;
  }

  /** The resource in the JSON of an entry, parsed. */
  resourceIn(parsed: unknown): JsonObject {
    return (this.isBundle ? (parsed as { resource: unknown }).resource : parsed) as JsonObject;
  }

  /** Memory, roughly, that all of this takes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The record of this unit that a `fullUrl` or a `Type/id` names; undefined when there is none. */
  find(reference: string): ReferencedRecord | undefined {
    const text = nameOfUrl(reference);
    const byUrl = this.#under(text);
    if (byUrl !== undefined) return byUrl.target;
    const parsed = parseReference(text);
    if (parsed.kind !== 'literal') return undefined;
    return this.sameRecord(parsed.type, recordId(parsed.type, parsed.id))?.target;
  }

  /** The entry whose fullUrl this is. */
  #under(url: string): UnitEntry | undefined {
    const byUrl = this.#byUrl.get(url);
    if (byUrl !== undefined) return byUrl;
    const parsed = parseReference(url);
    if (parsed.kind !== 'uuid') return undefined;
    return several(this.#byId.get(parsed.id)).find(({ namedById }) => namedById);
  }

  /** True when the reference is to an entry of a type that is not taken. */
  isOther(reference: string): boolean {
    return this.#others.has(nameOfUrl(reference));
  }

  /** Note an entry of a type that is not taken. */
  addOther({ resourceType, fullUrl }: SeenEntry): void {
    count(this.notTaken, resourceType);
    if (fullUrl === undefined) return;
    this.#others.add(nameOfUrl(fullUrl));
    this.#hold(fullUrl);
  }

  /** Distinct records of this unit that carry the identifier. */
  findByIdentifier(type: string, { system, value }: IdentifierKey): ReferencedRecord[] {
    const entries = several(this.#byIdentifier.get(`${type} ${system}`)?.get(value));
    return [...new Map(entries.map(({ target }) => [target.id, target])).values()];
  }

  /** The entry of the type and the id in the organisation. */
  sameRecord(type: string, id: string): UnitEntry | undefined {
    return several(this.#byId.get(id)).find(({ target }) => target.type === type);
  }

  /** What names the records of this unit where others wait for them. */
  *names(): Generator<[name: string, entry: UnitEntry]> {
    for (const entry of this.entries) {
      const { id, target } = entry;
      yield [id, entry];
      if (target.id !== id) yield [target.id, entry];
    }
    for (const [typeAndSystem, values] of this.#byIdentifier) {
      const [type = '', ...system] = typeAndSystem.split(' ');
      for (const [value, entries] of values)
        for (const entry of several(entries).slice(0, 1))
          yield [identifierName(type, { system: system.join(' '), value }), entry];
    }
  }

  /** Add an entry as it is. */
  addEntry(entry: UnitEntry): void {
    this.entries.push(entry);
    append(this.#byId, entry.id, entry);
  }

  /** Note an entry whose id in the organisation is `id`. Throws ResourceRejected when it cannot be taken. */
  add(range: EntryRange, seen: SeenEntry, importer: ResourceImporter, id: string): UnitEntry {
    const { resource, resourceType, fullUrl } = seen;
    const before = fullUrl === undefined ? undefined : this.#under(nameOfUrl(fullUrl));
    if (before !== undefined)
      throw new ResourceRejected(
        `The entry has the same fullUrl as entry ${before.number}, but is another record`,
      );
    const entry: UnitEntry = {
      number: range.number,
      start: range.start,
      end: range.end,
      importer,
      id,
      target: { type: resourceType, id },
      namedById: fullUrl?.toLowerCase() === `urn:uuid:${id}`,
      hasUuid: hasUuid(resource, resourceType, fullUrl),
      condition: conditionOf(seen, id),
      writes: true,
    };
    this.addEntry(entry);
    this.#heldBytes += ENTRY_BYTES;
    if (entry.condition !== undefined) this.#hold(entry.condition.key.system + entry.condition.key.value);
    if (fullUrl !== undefined && !entry.namedById) {
      this.#byUrl.set(nameOfUrl(fullUrl), entry);
      this.#hold(fullUrl);
    }
    for (const { system, value } of identifiersOf(resource)) {
      this.#hold(system + value);
      const typeAndSystem = `${resourceType} ${system}`;
      const values = this.#byIdentifier.get(typeAndSystem) ?? new Map<string, UnitEntry | UnitEntry[]>();
      this.#byIdentifier.set(typeAndSystem, values);
      append(values, value === id ? id : value, entry);
    }
    return entry;
  }

  #hold(text: string): void {
    this.#heldBytes += NAME_BYTES + text.length;
  }
}

/** A `fullUrl`, or what refers to one. A UUID is the same in upper and lower case (RFC 9562, section 4). */
function nameOfUrl(url: string): string {
  return url.startsWith('urn:uuid:') ? url.toLowerCase() : withoutVersion(url);
}

/** One entry is the usual case, and costs no list. */
function append(map: Map<string, UnitEntry | UnitEntry[]>, name: string, entry: UnitEntry): void {
  const before = map.get(name);
  if (before === undefined) map.set(name, entry);
  else if (Array.isArray(before)) before.push(entry);
  else map.set(name, [before, entry]);
}

function several(entries: UnitEntry | UnitEntry[] | undefined): UnitEntry[] {
  if (entries === undefined) return [];
  return Array.isArray(entries) ? entries : [entries];
}

/** Add `by` to the number kept for `name`, or for all others once there are very many names. */
export function count(counts: Map<string, number>, name: string, by = 1): void {
  const kept = countedName(counts, name);
  counts.set(kept, (counts.get(kept) ?? 0) + by);
}

/** A Bundle entry, checked as far as every entry must be. Throws ResourceRejected. */
export function seenEntry(entry: unknown): SeenEntry {
  const { fullUrl, resource, request } = asObject(entry, 'The entry');
  if (fullUrl !== undefined && typeof fullUrl !== 'string')
    throw new ResourceRejected('fullUrl is not a string');
  const asked = request === undefined ? undefined : asObject(request, 'request');
  if (resource === undefined)
    throw new ResourceRejected(
      asked?.method === 'DELETE'
        ? 'request.method is DELETE, but an import deletes nothing. Leave the entry out, or send the record with the status entered-in-error'
        : 'The entry has no resource',
    );
  return { ...seenResource(resource), fullUrl, request: asked };
}

/** A resource by itself. Throws ResourceRejected. */
export function seenResource(value: unknown): SeenEntry {
  const resource = asObject(value, 'The resource');
  const { resourceType } = resource;
  const isText = typeof resourceType === 'string';
  const meant = isText ? typeMeant(resourceType) : undefined;
  if (meant !== undefined)
    throw new MisspeltType(`resourceType is not a resource type of FHIR R4. Did you mean ${meant}?`);
  if (!isText || !RESOURCE_TYPE.test(resourceType))
    throw new ResourceRejected('resourceType is missing or is not a FHIR resource type');
  return { resource, resourceType, fullUrl: undefined, request: undefined };
}

/** Not counted among the lines that are no FHIR: the lines after many of these are read. */
export class MisspeltType extends ResourceRejected {}

/** The type that is taken and that was probably meant; undefined for types of R4, and for what is near none. */
function typeMeant(given: string): string | undefined {
  return RESOURCE_TYPES.has(given) ? undefined : nameMeant(given, ['Bundle', ...IMPORTERS.keys()]);
}

/** What a Bundle entry asks for (R4, Bundle.entry.request): a create, an update, or either on a condition. */
function conditionOf({ request, resource, resourceType }: SeenEntry, id: string): UnitEntry['condition'] {
  if (request === undefined) return undefined;
  const { method, url, ifNoneExist } = request;
  if (method !== 'POST' && method !== 'PUT') throw new ResourceRejected('request.method must be POST or PUT');
  if (method === 'POST' && ifNoneExist === undefined) return undefined;
  if (method === 'PUT' && typeof url === 'string') requireSame(url, resource, id);
  if (method === 'PUT' && !(typeof url === 'string' && url.includes('?'))) return undefined;
  const search = method === 'POST' ? ifNoneExist : url;
  // An address may stand before the query, and a system may have a `?` of its own.
  const key =
    typeof search === 'string' ? identifierQuery(search.replace(/^(?!identifier=)[^?]*\?/, '')) : undefined;
  if (key === undefined)
    throw new ResourceRejected(
      `${method === 'POST' ? 'request.ifNoneExist' : 'request.url'} of this ${resourceType} does not have the form identifier=system|value`,
    );
  return { key, kind: method === 'POST' ? 'create' : 'update' };
}

/** Throws ResourceRejected when an update names another record than its resource (R4, http.html#update). */
function requireSame(url: string, { resourceType, id: givenId }: JsonObject, id: string): void {
  const named = parseReference(url);
  if (!('type' in named)) return;
  if (named.type === resourceType && (named.kind !== 'literal' || recordId(named.type, named.id) === id))
    return;
  const why =
    givenId === undefined
      ? 'names a record, but the resource has no id'
      : 'names another record than the type and id of the resource';
  throw new ResourceRejected(`request.url of this ${resourceType} ${why}`);
}

function asObject(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ResourceRejected(`${what} is not a JSON object`);
  return value as JsonObject;
}
