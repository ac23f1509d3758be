/** What the answer to a write or a search says (FHIR R4, "RESTful API"). Pure. Contract: PUB-20. */
import { hasIdentifier } from '../plan/content.fhir.ts';
import type { FhirAnswer } from './fhir-client.ts';

/** The id and version under which a FHIR server stores a resource. */
export interface StoredAs {
  id: string;
  versionId: string | null;
}

export interface Issue {
  severity?: unknown;
  code?: unknown;
  expression?: unknown;
  location?: unknown;
}

type Json = Record<string, unknown>;
export type Answered = Extract<FhirAnswer, { kind: 'answered' }>;

/** A resource that was asked for. */
export interface FoundResource extends StoredAs {
  identifiers: Json[];
}

/** FHIR R4 datatypes, "id". Not `.` and `..`: in an address they lead elsewhere. */
const FHIR_ID = /^(?!\.{1,2}$)[A-Za-z0-9\-.]{1,64}$/;

/**
 * Where a 2xx answer says that the resource is stored: its body, else `Location` and `ETag`. An empty body, an empty
 * object and an OperationOutcome are as good as the resource (`Prefer: return=…` is the server's to follow); a PUT is
 * then stored under the id that it named. Undefined: the answer is none of a FHIR server, or tells of an error, which is what
 * made an action fail (FHIR R4, value set "issue-severity").
 */
export function storedAs(
  answer: Answered,
  { type, putId }: { type: string; putId: string | undefined },
): StoredAs | undefined {
  const located = inLocation(answer.location, type);
  const versionId = inEtag(answer.etag) ?? located?.versionId ?? null;
  const isExpected = located !== undefined && (putId === undefined || located.id === putId);
  if (isExpected && versionId !== null && agrees(answer.body, { id: located.id, versionId }))
    return { id: located.id, versionId };
  const said = { id: located?.id ?? putId, versionId };
  // Longer than is read: a resource that is echoed whole.
  if (answer.body === undefined || answer.body.trim() === '') return complete(said);
  const body = parseObject(answer.body);
  if (body?.resourceType === 'OperationOutcome')
    return issuesOf(answer).some(isError) ? undefined : complete(said);
  if (body !== undefined && Object.keys(body).length === 0) return complete(said);
  return body === undefined ? undefined : inBody(body, { type, located, answer, versionId });
}

interface InBody {
  type: string;
  located: { id: string } | undefined;
  answer: Answered;
  versionId: string | null;
}

/** Some say the id and no type. Some echo what they were sent, and say the id in `Location` alone. */
function inBody(
  { resourceType, id, meta }: Json,
  { type, located, answer, versionId }: InBody,
): StoredAs | undefined {
  if ((resourceType ?? type) !== type) return undefined;
  // Without a type it may be the id of something else, such as of a message, or of a job that a 202 speaks of.
  const untyped = answer.status === 202 ? undefined : id;
  const said = resourceType == null ? (located?.id ?? untyped) : (id ?? located?.id);
  const bodyVersion = (meta as { versionId?: unknown } | undefined | null)?.versionId;
  return isFhirId(said)
    ? { id: said, versionId: isFhirId(bodyVersion) ? bodyVersion : versionId }
    : undefined;
}

/** Whether a 2xx answer that says no id is whole: not half of one, and not the page of a proxy. */
export function saysNoId({ body = '' }: Answered, type: string): boolean {
  if (body.trim() === '') return true;
  const said = parseObject(body);
  return said !== undefined && ['OperationOutcome', type, undefined].includes(said.resourceType as string);
}

/** Headers and body that say the same spare parsing the body. */
function agrees(body: string | undefined, { id, versionId }: { id: string; versionId: string }): boolean {
  return body?.includes(`"id":"${id}"`) === true && body.includes(`"versionId":"${versionId}"`);
}

/** Resources of a searchset that carry the identifier; undefined when the answer is no searchset. */
export function foundIds(
  answer: Answered,
  { type, ...identifier }: { type: string; system: string; value: string },
): FoundResource[] | undefined {
  const bundle = answer.body === undefined ? undefined : parseObject(answer.body);
  if (bundle?.resourceType !== 'Bundle' || bundle.type !== 'searchset') return undefined;
  const entries = Array.isArray(bundle.entry) ? (bundle.entry as ({ resource?: Json } | null)[]) : [];
  const found = entries.flatMap((entry) => foundResource(entry?.resource, type) ?? []);
  return found.filter(({ identifiers }) => hasIdentifier(identifiers, identifier));
}

/** The resource that a read of `Type/id` answered; undefined when the answer is none, or another. */
export function foundAt(answer: Answered, type: string, id: string): FoundResource | undefined {
  const body = answer.body === undefined ? undefined : parseObject(answer.body);
  const found = foundResource(body, type);
  if (found?.id !== id) return undefined;
  return { ...found, versionId: found.versionId ?? inEtag(answer.etag) };
}

function foundResource(resource: Json | undefined, type: string): FoundResource | undefined {
  if (resource?.resourceType !== type || !isFhirId(resource.id)) return undefined;
  const { versionId } = (resource.meta ?? {}) as { versionId?: unknown };
  return {
    id: resource.id,
    versionId: isFhirId(versionId) ? versionId : null,
    identifiers: Array.isArray(resource.identifier) ? resource.identifier.filter(isObject) : [],
  };
}

/** The issues of an OperationOutcome; none when the answer is none. */
export function issuesOf(answer: FhirAnswer): Issue[] {
  if (answer.kind === 'unanswered' || answer.body === undefined) return [];
  const outcome = parseObject(answer.body);
  if (outcome?.resourceType !== 'OperationOutcome' || !Array.isArray(outcome.issue)) return [];
  return outcome.issue.filter((issue): issue is Issue => typeof issue === 'object' && issue !== null);
}

/** Whether an issue is one that made the action fail. */
export function isError({ severity }: Issue): boolean {
  return severity === 'fatal' || severity === 'error';
}

export function parseObject(text: string): Json | undefined {
  try {
    // Some servers put a byte order mark before it (RFC 8259 section 8.1).
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function complete({
  id,
  versionId,
}: {
  id: string | undefined;
  versionId: string | null;
}): StoredAs | undefined {
  return id === undefined ? undefined : { id, versionId };
}

/** `[base]/<Type>/<id>` with or without `/_history/<version>`. */
function inLocation(location: string | undefined, type: string): StoredAs | undefined {
  const path = location?.split('?')[0] ?? '';
  const match = /(?:^|\/)([A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/([A-Za-z0-9\-.]{1,64}))?\/?$/.exec(
    path,
  );
  if (match === null || match[1] !== type || !isFhirId(match[2])) return undefined;
  return { id: match[2], versionId: match[3] ?? null };
}

function inEtag(etag: string | undefined): string | null {
  return /^(?:W\/)?"([A-Za-z0-9\-.]{1,64})"$/.exec(etag ?? '')?.[1] ?? null;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFhirId(value: unknown): value is string {
  return typeof value === 'string' && FHIR_ID.test(value);
}
