/**
 * The FHIR R4 interface of a {@link FhirStore}: create, conditional create, update, read, delete, search,
 * metadata.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { PUBLISHED_TYPES } from '../../src/publish/plan/resource-types.ts';
import type { CallOutcome, FhirStore, Resource } from './fhir-store.ts';

export interface FhirCall {
  method: string;
  type: string;
  id: string | undefined;
  /** Without the question mark. */
  query: string;
  body: string;
  headers: IncomingHttpHeaders;
}

/** The parts of a call below the base path `/fhir/`. */
export function readPath(url: string): Pick<FhirCall, 'type' | 'id' | 'query'> & { path: string } {
  const path = url.replace(/^\/fhir\//, '');
  const [resourcePath = '', query = ''] = path.split('?');
  const [type = '', id] = resourcePath.split('/');
  return { path, type, id, query };
}

export function perform(
  store: FhirStore,
  { method, type, id, query, body, headers }: FhirCall,
): CallOutcome | Resource {
  if (method === 'GET' && type === 'metadata') return capabilities(store);
  if (method === 'GET' && id !== undefined) return store.read(type, id);
  if (method === 'GET') return searchset(store, type, query);
  if (method === 'DELETE' && id !== undefined) return store.delete(type, id);
  const resource = parseResource(body);
  if (resource === undefined) return problem(400, 'structure', 'Not valid JSON');
  if (resource.resourceType !== type) return problem(400, 'invalid', 'Resource type does not match');
  if (!hasIdentifierList(resource))
    return problem(400, 'structure', 'identifier is not a list of identifiers');
  if (method === 'PUT' && id !== undefined) return store.update(resource, id, headers['if-match']);
  const condition = headers['if-none-exist'];
  if (method === 'POST') return store.create(resource, typeof condition === 'string' ? condition : undefined);
  return problem(405, 'not-supported', 'Not supported');
}

export function answerWith(response: ServerResponse, outcome: CallOutcome | Resource): void {
  if (response.destroyed || response.writableEnded) return;
  const status = isOutcome(outcome) ? outcome.status : 200;
  if (status === 204) return void response.writeHead(status).end();
  const resource = isOutcome(outcome) ? outcome.resource : undefined;
  const { id, resourceType, meta } = resource ?? {};
  const version = meta?.versionId;
  const headers =
    resource === undefined || version === undefined
      ? {}
      : { etag: `W/"${version}"`, location: `/fhir/${resourceType}/${id}/_history/${version}` };
  response.writeHead(status, { 'content-type': 'application/fhir+json; charset=utf-8', ...headers });
  response.end(JSON.stringify(bodyOf(outcome)));
}

export function bodyOf(outcome: CallOutcome | Resource): Resource {
  if (!isOutcome(outcome)) return outcome;
  const { code, text } = outcome.problem ?? { code: 'exception', text: 'Failed' };
  return outcome.resource ?? outcomeOf(code, text);
}

export function outcomeOf(code: string, diagnostics: string, expression?: string[]): Resource {
  return { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code, diagnostics, expression }] };
}

export function parseResource(text: string): Resource | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Resource) : undefined;
  } catch {
    return undefined;
  }
}

export function isOutcome(value: CallOutcome | Resource): value is CallOutcome {
  return 'status' in value && !('resourceType' in value);
}

function hasIdentifierList({ identifier = [] }: { identifier?: unknown }): boolean {
  return (
    Array.isArray(identifier) && identifier.every((one: unknown) => typeof one === 'object' && one !== null)
  );
}

function problem(status: number, code: string, text: string): CallOutcome {
  return { status, problem: { code, text } };
}

function searchset(store: FhirStore, type: string, query: string): CallOutcome | Resource {
  if (!store.options.search) return problem(403, 'forbidden', 'Search is not allowed');
  const entry = store.search(type, query).map((resource) => ({ resource, search: { mode: 'match' } }));
  return { resourceType: 'Bundle', type: 'searchset', ...(entry.length === 0 ? {} : { entry }) };
}

function capabilities({ options }: FhirStore): Resource {
  const { search, deletes = true, declaresClientIds = true } = options;
  const interactions = [
    ...['create', 'update', 'read'],
    ...(deletes ? ['delete'] : []),
    ...(search ? ['search-type'] : []),
  ];
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    kind: 'instance',
    fhirVersion: '4.0.1',
    software: { name: options.name, version: '1' },
    rest: [
      {
        mode: 'server',
        resource: PUBLISHED_TYPES.map((type) => ({
          type,
          interaction: interactions.map((code) => ({ code })),
          ...(declaresClientIds ? { updateCreate: options.clientIds } : {}),
          conditionalCreate: options.conditionalCreate,
          referencePolicy: options.referentialIntegrity ? ['literal', 'enforced'] : ['literal'],
          searchParam: [{ name: 'identifier', type: 'token' }],
        })),
      },
    ],
  };
}
