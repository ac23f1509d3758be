/** What a FHIR server holds: resources by id, each in all its versions, with referential integrity. */
import { randomUUID } from 'node:crypto';

export interface Resource {
  resourceType: string;
  id?: string;
  meta?: Record<string, unknown>;
  identifier?: { system?: string; value?: string }[];
  [element: string]: unknown;
}

export interface StoreOptions {
  /** Of the software, in the CapabilityStatement. */
  name: string;
  /** PUT to an id that is not there makes it. Without it: 405. */
  clientIds: boolean;
  /** Says in its CapabilityStatement whether it takes ids of others; default true. HAPI FHIR says nothing of it. */
  declaresClientIds?: boolean;
  /** Deletes; default true. Without it: 405. */
  deletes?: boolean;
  /** References must lead to something. Without it nobody looks. */
  referentialIntegrity: boolean;
  /** Honours If-None-Exist. */
  conditionalCreate: boolean;
  /** Searches by identifier; without it: 403. */
  search: boolean;
  /** Gives versions, and honours If-Match; default true. */
  versions?: boolean;
  /** Gives the ids 1, 2, 3, from 1 again once it is cleared. */
  sequentialIds?: boolean;
}

/** What a call came to: 200 there or updated, 201 made, 204 deleted, else why not. */
export interface CallOutcome {
  status: number;
  resource?: Resource;
  problem?: { code: string; text: string; expression?: string };
}

interface Held {
  versions: Resource[];
  deleted: boolean;
}

export class FhirStore {
  readonly options: StoreOptions;
  #held = new Map<string, Held>();
  #lastId = 0;

  constructor(options: StoreOptions) {
    this.options = options;
  }

  /** POST, with what `If-None-Exist` says where it was sent and is honoured. */
  create(resource: Resource, ifNoneExist: string | undefined): CallOutcome {
    const broken = this.#brokenReference(resource);
    if (broken !== undefined) return broken;
    if (ifNoneExist !== undefined && this.options.conditionalCreate) {
      const found = this.search(resource.resourceType, ifNoneExist);
      if (found.length > 1)
        return { status: 412, problem: { code: 'multiple-matches', text: 'Multiple resources match' } };
      const [first] = found;
      if (first !== undefined) return { status: 200, resource: first };
    }
    return { status: 201, resource: this.#add(resource, this.#newId()) };
  }

  /** PUT, with `If-Match` where it was sent and is honoured. */
  update(resource: Resource, id: string, ifMatch?: string): CallOutcome {
    const held = this.#held.get(`${resource.resourceType}/${id}`);
    if (resource.id !== id)
      return { status: 400, problem: { code: 'invalid', text: 'Resource id and address do not match' } };
    if (held === undefined && !this.options.clientIds)
      return { status: 405, problem: { code: 'not-supported', text: 'Client-assigned ids are not allowed' } };
    if (held?.deleted === true && !this.options.clientIds)
      return { status: 410, problem: { code: 'deleted', text: 'Resource was deleted' } };
    if (
      ifMatch !== undefined &&
      ifMatch !== `W/"${held?.versions.at(-1)?.meta?.versionId}"` &&
      this.#hasVersions
    )
      return { status: 412, problem: { code: 'conflict', text: 'The version is another one' } };
    const broken = this.#brokenReference(resource);
    if (broken !== undefined) return broken;
    return { status: held === undefined ? 201 : 200, resource: this.#add(resource, id) };
  }

  read(type: string, id: string): CallOutcome {
    const held = this.#held.get(`${type}/${id}`);
    if (held === undefined)
      return { status: 404, problem: { code: 'not-found', text: 'Resource not found' } };
    if (held.deleted) return { status: 410, problem: { code: 'deleted', text: 'Resource was deleted' } };
    const resource = held.versions.at(-1);
    return resource === undefined ? { status: 404 } : { status: 200, resource };
  }

  /** Current resources of a type that match `identifier=system|value`; all of them when it asks for nothing known. */
  search(type: string, query: string): Resource[] {
    const wanted = new URLSearchParams(query).get('identifier');
    return this.current().filter(({ resourceType, identifier = [] }) => {
      if (resourceType !== type) return false;
      return wanted === null || identifier.some(({ system, value }) => `${system}|${value}` === wanted);
    });
  }

  /** Every resource that is there now, in its newest version. */
  current(): Resource[] {
    return [...this.#held.values()].flatMap(({ versions, deleted }) => (deleted ? [] : versions.slice(-1)));
  }

  /** DELETE. */
  delete(type: string, id: string): CallOutcome {
    if (this.options.deletes === false)
      return { status: 405, problem: { code: 'not-supported', text: 'Delete is not allowed' } };
    const found = this.read(type, id);
    if (found.status !== 200) return found;
    this.remove(`${type}/${id}`, true);
    return { status: 204 };
  }

  /** As if it had never been there, or as deleted (410). */
  remove(key: string, deleted: boolean): void {
    const held = this.#held.get(key);
    if (held !== undefined && deleted) held.deleted = true;
    else this.#held.delete(key);
  }

  clear(): void {
    this.#held.clear();
    this.#lastId = 0;
  }

  get #hasVersions(): boolean {
    return this.options.versions !== false;
  }

  #newId(): string {
    this.#lastId += 1;
    return this.options.sequentialIds === true ? String(this.#lastId) : randomUUID();
  }

  #add(resource: Resource, id: string): Resource {
    const key = `${resource.resourceType}/${id}`;
    const held = this.#held.get(key) ?? { versions: [], deleted: false };
    const versionId = String(held.versions.length + 1);
    const version = this.#hasVersions ? { versionId } : {};
    const meta = { ...resource.meta, ...version, lastUpdated: new Date().toISOString() };
    const stored = { ...resource, id, meta };
    this.#held.set(key, { versions: [...held.versions, stored], deleted: false });
    return stored;
  }

  #brokenReference(resource: Resource): CallOutcome | undefined {
    if (!this.options.referentialIntegrity) return undefined;
    const broken = literalReferences(resource).find((reference) => {
      const held = this.#held.get(reference);
      return held === undefined || held.deleted;
    });
    if (broken === undefined) return undefined;
    const text = `Resource ${broken} not found, specified in path: ${resource.resourceType}`;
    return { status: 422, problem: { code: 'not-found', text } };
  }
}

/** `Type/id` of every reference in a resource. */
export function literalReferences(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(literalReferences);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'reference' && typeof member === 'string' ? [member] : literalReferences(member),
  );
}
