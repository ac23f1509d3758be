/**
 * Writes one resource to a target until it is stored there, once (design 3.5; docs/adr/0050).
 *
 * A resource whose id at the target is known goes as PUT, which may be repeated. One without goes as POST with
 * `If-None-Exist` on our identifier. When it is not known whether a POST was done (the answer was lost, or the
 * process ended), a search by that identifier comes before the next POST.
 */
import { hash } from 'node:crypto';
import { ownIdentifier } from '../fhir/coded.ts';
import type { FhirResource } from '../observations/fhir-resource.ts';
import { bodyOf, keyOf, type ResourceKey, withOwnIdentifier } from './content.fhir.ts';
import { describeIssues } from './describe-outcome.ts';
import type { FhirAnswer, FhirRequest } from './fhir-server.ts';
import { foundIds, issuesOf, type StoredAs, storedAs } from './read-answer.ts';
import { type Clock, delayAfter, isTransient, type RetrySettings } from './retry.ts';

export interface WriteContext {
  organisationId: string;
  targetId: string;
  correlationId: string;
  /** Throws when nothing more may be sent: the lease is lost, or another resource has failed. */
  send(request: FhirRequest): Promise<FhirAnswer>;
  clock: Clock;
  retry: RetrySettings;
  /**
   * The target has lost what it had under this id. Make durable that the id is not known any more and a create is
   * about to be sent; throws where that must happen in another way.
   */
  noteLost(key: ResourceKey, lostId: string): Promise<void>;
}

export interface ResourceToWrite {
  /** With its references as the target shall see them; `id` is ours. */
  resource: FhirResource;
  /** The resource as JSON, where that is known. */
  json: string | undefined;
  /** The id at the target; undefined when the target has yet to give one. */
  serverId: string | undefined;
  /** A create was begun before, and whether it was done is not known. */
  inDoubt: boolean;
  /** Our id, where the target shall use it and the create in doubt was not done. */
  ownId: string | undefined;
}

export interface Written extends StoredAs {
  method: 'PUT' | 'POST';
  status: number;
  /** SHA-256, in hex. */
  contentHash: string;
}

/** A resource could not be written. The message is fit for callers: no clinical values. */
export class WriteFailure extends Error {
  override name = 'WriteFailure';
  readonly key: ResourceKey;
  readonly method: string;
  readonly status: number | undefined;
  /** The target does not answer, or not now; nothing is wrong with the resource. */
  readonly targetDown: boolean;

  constructor(message: string, key: ResourceKey, { method, answer }: { method: string; answer: FhirAnswer }) {
    super(message);
    this.key = key;
    this.method = method;
    this.status = answer.kind === 'answered' ? answer.status : undefined;
    this.targetDown = answer.kind === 'unanswered' || isTransient(answer.status);
  }
}

/** How one request came out. */
type Step =
  | { kind: 'stored'; written: Written }
  /** The target has it under this id: write it there. */
  | { kind: 'known'; id: string }
  /** The target does not have it (any more). */
  | { kind: 'lost'; method: string; answer: FhirAnswer }
  | { kind: 'again'; method: string; answer: FhirAnswer; inDoubt: boolean };

/** Throws WriteFailure when it is refused, or still not stored at the end of the retry budget. */
export async function writeResource(context: WriteContext, item: ResourceToWrite): Promise<Written> {
  let { serverId, inDoubt, ownId } = item;
  let wasLost = false;
  let tries = 0;
  let firstFailureMs: number | undefined;
  for (;;) {
    const step: Step =
      serverId === undefined
        ? await create(context, item.resource, { inDoubt, ownId })
        : await put(context, item, serverId);
    if (step.kind === 'stored') return step.written;
    if (step.kind === 'known') serverId = step.id;
    else if (step.kind === 'lost') {
      if (wasLost || serverId === undefined) throw failure(item.resource, step.method, step.answer);
      await context.noteLost(keyOf(item.resource), serverId);
      [serverId, ownId, wasLost] = [undefined, undefined, true];
    } else {
      tries += 1;
      firstFailureMs ??= context.clock.nowMs();
      inDoubt ||= step.inDoubt;
      await pause(context, item.resource, { tries, firstFailureMs, step });
    }
  }
}

async function pause(
  { clock, retry }: WriteContext,
  resource: FhirResource,
  {
    tries,
    firstFailureMs,
    step,
  }: { tries: number; firstFailureMs: number; step: Extract<Step, { kind: 'again' }> },
): Promise<void> {
  const { answer } = step;
  const spentMs = clock.nowMs() - firstFailureMs;
  const retryAfterMs = answer.kind === 'answered' ? answer.retryAfterMs : undefined;
  const delayMs = mayRecover(answer) ? delayAfter(retry, tries, { spentMs, retryAfterMs }) : undefined;
  if (delayMs === undefined) throw failure(resource, step.method, answer);
  await clock.sleep(delayMs);
}

async function put(
  context: WriteContext,
  { resource: given, json }: Pick<ResourceToWrite, 'resource' | 'json'>,
  id: string,
): Promise<Step> {
  const method = 'PUT';
  const resource = id === given.id ? given : withOwnIdentifier(given, context.organisationId);
  const body = bodyOf(resource, id, json);
  const contentHash = contentDigest(context.targetId, resource, body);
  const path = `${resource.resourceType}/${id}`;
  const answer = await write(context, { method, path, body }, contentHash);
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer, inDoubt: false };
  const { status } = answer;
  if (status === 404 || status === 410) return { kind: 'lost', method, answer };
  if (isSuccess(status)) {
    const stored = storedAs(answer, { type: resource.resourceType, putId: id });
    if (stored !== undefined) return { kind: 'stored', written: { ...stored, method, status, contentHash } };
    return { kind: 'again', method, answer, inDoubt: false };
  }
  if (!isTransient(status)) throw failure(resource, method, answer);
  return { kind: 'again', method, answer, inDoubt: false };
}

async function create(
  context: WriteContext,
  given: FhirResource,
  { inDoubt, ownId }: Pick<ResourceToWrite, 'inDoubt' | 'ownId'>,
): Promise<Step> {
  const resource = withOwnIdentifier(given, context.organisationId);
  const found = inDoubt ? await search(context, resource) : undefined;
  if (found !== undefined) return found;
  return ownId === undefined ? post(context, resource) : { kind: 'known', id: ownId };
}

async function post(context: WriteContext, resource: FhirResource): Promise<Step> {
  const method = 'POST';
  const body = bodyOf(resource, undefined);
  const headers = { 'if-none-exist': identifierQuery(context, resource) };
  const digest = contentDigest(context.targetId, resource, body);
  const answer = await write(context, { method, path: resource.resourceType, body, headers }, digest);
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer, inDoubt: answer.reached };
  const { status } = answer;
  if (isSuccess(status)) {
    const stored = storedAs(answer, { type: resource.resourceType, putId: undefined });
    if (stored === undefined) return { kind: 'again', method, answer, inDoubt: true };
    // It was there already: what is there may be older than what we have.
    if (status !== 201) return { kind: 'known', id: stored.id };
    const contentHash = contentDigest(context.targetId, resource, bodyOf(resource, stored.id));
    return { kind: 'stored', written: { ...stored, method, status, contentHash } };
  }
  if (status === 412) {
    const found = await search(context, resource);
    if (found !== undefined) return found;
  }
  if (!isTransient(status)) throw failure(resource, method, answer);
  return { kind: 'again', method, answer, inDoubt: status !== 429 };
}

/** Look for it by our identifier. Undefined: it is not there, or the target does not search that way. */
async function search(context: WriteContext, resource: FhirResource): Promise<Step | undefined> {
  const method = 'GET';
  const { resourceType: type } = resource;
  const answer = await context.send({
    method,
    path: `${type}?${identifierQuery(context, resource)}`,
    headers: { 'x-correlation-id': context.correlationId, 'cache-control': 'no-cache' },
  });
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer, inDoubt: true };
  if (!isSuccess(answer.status)) {
    if (isTransient(answer.status)) return { kind: 'again', method, answer, inDoubt: true };
    return undefined;
  }
  const { system = '', value = '' } = ownIdentifier(context.organisationId, resource.id);
  const found = foundIds(answer, { type, system, value });
  if (found === undefined) return { kind: 'again', method, answer, inDoubt: true };
  const [first] = found;
  if (found.length > 1)
    throw new WriteFailure(
      `the target holds ${found.length} of it under our identifier; remove all but one`,
      keyOf(resource),
      { method, answer },
    );
  return first === undefined ? undefined : { kind: 'known', id: first.id };
}

async function write(context: WriteContext, request: FhirRequest, digest: string): Promise<FhirAnswer> {
  return context.send({
    ...request,
    headers: {
      prefer: 'return=representation',
      'x-correlation-id': context.correlationId,
      'x-idempotency-key': digest,
      ...request.headers,
    },
  });
}

/** SHA-256 over target, type, local id and content (design 3.5), in hex. */
export function contentDigest(targetId: string, { resourceType, id }: FhirResource, body: string): string {
  return hash('sha256', `${targetId}\n${resourceType}\n${id}\n${body}`, 'hex');
}

function identifierQuery({ organisationId }: WriteContext, { id }: FhirResource): string {
  const { system = '', value = '' } = ownIdentifier(organisationId, id);
  return `identifier=${encodeURIComponent(`${system}|${value}`)}`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** What is wrong with the address or its certificate stays so. */
function mayRecover(answer: FhirAnswer): boolean {
  return answer.kind === 'answered' || !/address_refused|CERT|TLS|SSL/.test(answer.code);
}

function failure(resource: FhirResource, method: string, answer: FhirAnswer): WriteFailure {
  const options = { method, answer };
  if (answer.kind === 'unanswered')
    return new WriteFailure(`${method} was not answered (${answer.code})`, keyOf(resource), options);
  const { status } = answer;
  const issues = describeIssues(issuesOf(answer), resource);
  const said = isSuccess(status) ? `${status} with a body that is no FHIR answer` : `${status}`;
  const parts = [
    `${method} answered ${said}`,
    issues === '' ? undefined : `(${issues})`,
    hint(method, status),
  ];
  return new WriteFailure(parts.filter((part) => part !== undefined).join(' '), keyOf(resource), options);
}

function hint(method: string, status: number): string | undefined {
  if (status === 401 || status === 403) return '- the target refuses our credentials';
  if (status === 405 && method === 'PUT')
    return '- the target may refuse ids of ours: use the id policy server';
  if (status === 404 && method === 'POST') return '- is the base address right?';
  if (status >= 300 && status < 400) return '- redirects are not followed: correct the base address';
  return undefined;
}
