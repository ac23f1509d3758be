/**
 * What the steps of writing one resource share: requests, and how each came out.
 * Contract: PUB-15, PUB-16.
 */
import { hash } from 'node:crypto';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import { jsonOf } from '../plan/content.fhir.ts';
import type { Clock } from '../servers/publish-settings.ts';
import type { FhirAnswer, FhirRequest } from './fhir-client.ts';
import type { StoredAs } from './read-answer.ts';
import type { Tries } from './retry.ts';

export interface PublishWriteContext {
  organisationId: string;
  fhirServerId: string;
  correlationId: string;
  /** Throws when nothing more may be sent: the lease is lost, or another resource has failed. */
  send(request: FhirRequest): Promise<FhirAnswer>;
  clock: Clock;
  /** Aborted once another resource has failed. */
  stopped?: AbortSignal;
  /** `send` says to it when a request begins. */
  tries: Tries;
  /**
   * The server does not have it under this id (any more). Make durable that its id is not known and a create is
   * about to be sent; throws where that must happen in another way.
   */
  noteLost(lostId: string): Promise<void>;
  /** Asked before what somebody wrote there meanwhile is written over. Rejects when the resource is not ours to send any more. */
  requireOwn?: () => Promise<void>;
}

export interface ResourceToWrite {
  /** With its references as the server shall see them; `id` is ours. */
  resource: FhirResource;
  /** Where the server has it, and in which version; undefined when it has yet to give an id. */
  held: StoredAs | undefined;
  /** A create was begun before, and whether it was done is not known. */
  inDoubt: boolean;
  /** Our id, where the server shall use it. */
  ownId: string | undefined;
}

export interface Written extends StoredAs {
  method: 'PUT' | 'POST';
  status: number;
  /** SHA-256, in hex. */
  contentHash: string;
}

/** How one request came out. */
export type Step =
  | { kind: 'stored'; written: Written }
  /** The server has it there: write it there. */
  | { kind: 'held'; held: StoredAs }
  /** The server does not have it (any more). */
  | { kind: 'lost'; method: string; answer: FhirAnswer }
  | { kind: 'again'; method: string; answer: FhirAnswer };

export function sendWrite(
  context: PublishWriteContext,
  request: FhirRequest,
  digest: string,
): Promise<FhirAnswer> {
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

/** Asks what the server has of `resource`. The answer may repeat all of it, such as the document of a report. */
export function sendRead(
  context: PublishWriteContext,
  resource: FhirResource,
  path: string,
): Promise<FhirAnswer> {
  const headers = { 'x-correlation-id': context.correlationId, 'cache-control': 'no-cache' };
  return context.send({
    method: 'GET',
    path,
    headers,
    // A server may write it with spaces or escapes that we leave out.
    moreBytes: 2 * Buffer.byteLength(jsonOf(resource)),
  });
}

/** SHA-256 over server, type, local id and content (docs/publish.md), in hex. */
export function contentDigest(
  fhirServerId: string,
  { resourceType, id }: FhirResource,
  body: string,
): string {
  return hash('sha256', `${fhirServerId}\n${resourceType}\n${id}\n${body}`, 'hex');
}

/** What a conditional create and a search go by. */
export function ownIdentifierQuery(
  { organisationId }: Pick<PublishWriteContext, 'organisationId'>,
  { id }: FhirResource,
): string {
  const { system, value } = ownIdentifier(organisationId, id);
  return `identifier=${encodeURIComponent(`${system}|${value}`)}`;
}
