/** Requests that a registered route takes, made from its own schema and from seeded records. */
import { randomUUID } from 'node:crypto';
import type { TSchema } from 'typebox';
import type { Api } from '../../src/app/build-api.ts';
import { sampleBundle } from '../records/sample-bundle.ts';
import type { SeededRecords } from '../records/seed-tenant.ts';
import type { RawRequest } from './raw-http.ts';

export type RegisteredRoute = Api['routes'][number];

export interface SampleRequest {
  method: string;
  /** Full path, without query. */
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body?: string;
}

/** Which seeded record a path parameter names. The longest key that the path up to the parameter ends in wins. */
const PATH_SEEDS: Readonly<Record<string, keyof SeededRecords>> = {
  ':patientId': 'patientId',
  ':encounterId': 'encounterId',
  'lab/orders/:orderId': 'labOrderId',
  'imaging/orders/:orderId': 'imagingOrderId',
  ':vitalSetId': 'vitalSetId',
  'ServiceRequest/:resourceId': 'labOrderId',
  'Observation/:resourceId': 'observationId',
  'Specimen/:resourceId': 'specimenId',
  'ImagingStudy/:resourceId': 'studyId',
  'DiagnosticReport/:resourceId': 'reportId',
  ':connectionId': 'connectionId',
  ':deliveryId': 'deliveryId',
  ':importId': 'importId',
  ':accountId': 'accountId',
  ':sessionId': 'sessionId',
  ':roleId': 'roleId',
  ':facilityId': 'facilityId',
};

/** Values of query parameters and body properties by name, where the schema alone does not give a good one. */
const VALUES: Readonly<Record<string, (seeds: SeededRecords) => unknown>> = {
  patient: ({ patientId }) => patientId,
  purposeOfUse: () => 'TREATMENT',
  email: () => 'nobody@example.org',
  identity: () => randomUUID(),
  userType: () => 'EHR',
  targetSystem: () => 'http://loinc.org',
  localCode: () => LOCAL_CODE,
  code: () => LOCAL_CODE,
  address: () => 'https://exchange.example.org/deliveries',
};

/** Bodies by operation, where the schema does not say enough: raw ones, and rules between properties. */
const BODIES: Readonly<Record<string, (seeds: SeededRecords) => { type: string; body: string }>> = {
  putTerminologyMap: () =>
    json({ localCode: 'HBA1C', targetSystem: 'http://loinc.org', targetCode: '4548-4' }),
  importRecords: () => json(sampleBundle()),
  createConnection: () =>
    json({
      name: `connection ${randomUUID()}`,
      address: 'https://exchange.example.org/in',
      clientId: 'client',
    }),
  replayDeliveries: ({ deliveryId }) => json({ deliveryIds: [deliveryId], dryRun: true }),
  skipDeliveries: ({ deliveryId }) => json({ deliveryIds: [deliveryId], dryRun: true, reason: 'test' }),
  createAccount: ({ roleId }) =>
    json({ email: `made-${randomUUID()}@example.org`, userType: 'EHR', roleId, password: 'setup-link' }),
  // What whoever manages roles holds.
  createRole: () => json({ name: `role ${randomUUID()}`, permissions: ['roles.manage'] }),
  changeFacility: () => json({ timeZone: 'UTC' }),
  changeRole: () => json({ requiresSecondFactor: false }),
  changeAccount: ({ roleId }) => json({ roleId }),
  resetPassword: () => json({ password: 'setup-link' }),
  importTerminologyMaps: () => ({
    type: 'text/csv',
    body: 'local_system,local_code,local_display,target_system,target_code,target_display\n,HBA1C,,http://loinc.org,4548-4,\n',
  }),
};

function json(document: unknown): { type: string; body: string } {
  return { type: 'application/json', body: JSON.stringify(document) };
}

/** Path parameters of a route, in their order. */
export function pathParameters({ path }: RegisteredRoute): string[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
}

/** The seed of a path parameter; undefined when nobody named one. */
export function seedOf(
  { path }: RegisteredRoute,
  parameter: string,
  seeds: SeededRecords,
): string | undefined {
  const upTo = path.slice(0, path.indexOf(`:${parameter}`) + parameter.length + 1);
  const key = Object.keys(PATH_SEEDS)
    .filter((candidate) => upTo.endsWith(candidate))
    .sort((a, b) => b.length - a.length)[0];
  return key === undefined ? undefined : seeds[PATH_SEEDS[key] as keyof SeededRecords];
}

export function querySchema({ route }: RegisteredRoute): Record<string, TSchema> {
  const declared = (route.schemas.query?.properties ?? {}) as Record<string, TSchema>;
  const { access } = route;
  if (access.kind !== 'facility' || access.purposeOfUse === 'none') return declared;
  return { ...declared, purposeOfUse: { type: 'string' } as TSchema };
}

/** Parameters that a route can do without: only with them does it show what it shows of a patient. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = { searchPublications: ['patient'] };
/** The local code of a result, for a test that stores one. */
export const LOCAL_CODE = 'HBA1C';

/** A request that the route takes, on records of `seeds`. */
export function sampleRequest(entry: RegisteredRoute, seeds: SeededRecords): SampleRequest {
  const path = pathParameters(entry).reduce(
    (text, name) => text.replace(`:${name}`, seedOf(entry, name, seeds) ?? randomUUID()),
    entry.path,
  );
  return { method: entry.method, path, ...inputOf(entry, seeds) };
}

function inputOf(
  entry: RegisteredRoute,
  seeds: SeededRecords,
): Pick<SampleRequest, 'query' | 'headers' | 'body'> {
  const { query: schema, body, bodyMode = 'parsed' } = entry.route.schemas;
  const required = new Set<string>([
    ...((schema?.required as string[] | undefined) ?? []),
    ...(OPTIONAL[entry.route.docs.operationId] ?? []),
  ]);
  const query: Record<string, string> = {};
  for (const [name, property] of Object.entries(querySchema(entry)))
    if (required.has(name) || name === 'purposeOfUse') query[name] = String(valueFor(name, property, seeds));
  if (bodyMode === 'form') {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { query: {}, headers, body: new URLSearchParams(query).toString() };
  }
  const given = BODIES[entry.route.docs.operationId]?.(seeds);
  if (given !== undefined) return { query, headers: { 'content-type': given.type }, body: given.body };
  if (bodyMode !== 'parsed') return { query, headers: { 'content-type': 'application/json' }, body: '{}' };
  if (body === undefined) return { query, headers: {} };
  const headers = { 'content-type': 'application/json' };
  return { query, headers, body: JSON.stringify(sampleOf(body, seeds)) };
}

function valueFor(name: string, schema: TSchema, seeds: SeededRecords): unknown {
  return VALUES[name]?.(seeds) ?? sampleOf(schema, seeds);
}

/** The smallest value that a JSON schema takes. */
export function sampleOf(schema: TSchema, seeds: SeededRecords): unknown {
  const s = schema as unknown as Record<string, unknown>;
  if ('const' in s) return s.const;
  if (Array.isArray(s.enum)) return s.enum[0];
  if (Array.isArray(s.anyOf)) return sampleOf(s.anyOf[0] as TSchema, seeds);
  if ('default' in s) return s.default;
  switch (s.type) {
    case 'string':
      return 'x'.repeat(Math.max(1, Number(s.minLength ?? 1)));
    case 'integer':
    case 'number':
      return Number(s.minimum ?? 1);
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Number(s.minItems ?? 0) }, () => sampleOf(s.items as TSchema, seeds));
    default:
      return sampleObject(s, seeds);
  }
}

function sampleObject(schema: Record<string, unknown>, seeds: SeededRecords): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, TSchema>;
  const required = (schema.required ?? []) as string[];
  return Object.fromEntries(
    required.map((name) => [name, valueFor(name, properties[name] ?? ({} as TSchema), seeds)]),
  );
}

/** Whether the sample request of a route names one of the records. */
export function namesRecord(entry: RegisteredRoute, seeds: SeededRecords): boolean {
  const sample = JSON.stringify(sampleRequest(entry, seeds));
  return Object.values(seeds).some((id) => sample.includes(id));
}

/** The address of a request, below an origin. */
export function addressOf({ path, query }: Pick<SampleRequest, 'path' | 'query'>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The same request as bytes, of a caller with this token. */
export function rawSampleRequest(entry: RegisteredRoute, seeds: SeededRecords, token: string): RawRequest {
  const { method, body, headers, ...address } = sampleRequest(entry, seeds);
  return {
    method,
    target: addressOf(address),
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  };
}
