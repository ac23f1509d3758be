/**
 * Creates a resource at a FHIR server that gives it its id: POST with `If-None-Exist` on our identifier (docs/publish.md).
 * If an earlier create is in doubt, a search by that identifier comes first.
 * Contract: PUB-19.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import { keyOf, sentBody, withOwnIdentifier } from '../plan/content.fhir.ts';
import { foundIds, storedAs } from './read-answer.ts';
import { isTransient } from './retry.ts';
import { failure, isSuccess, WriteFailure } from './write-failure.ts';
import {
  contentDigest,
  ownIdentifierQuery,
  type PublishWriteContext,
  type ResourceToWrite,
  type Step,
  sendRead,
  sendWrite,
} from './write-request.ts';

export async function createResource(
  context: PublishWriteContext,
  { resource: given, inDoubt, ownId }: Pick<ResourceToWrite, 'resource' | 'inDoubt' | 'ownId'>,
): Promise<Step> {
  const resource = withOwnIdentifier(given, context.organisationId);
  const found = inDoubt ? await search(context, resource) : undefined;
  if (found !== undefined) return found;
  if (ownId !== undefined) return { kind: 'held', held: { id: ownId, versionId: null } };
  return post(context, resource);
}

async function post(context: PublishWriteContext, resource: FhirResource): Promise<Step> {
  const method = 'POST';
  const body = sentBody(resource, undefined);
  const headers = { 'if-none-exist': ownIdentifierQuery(context, resource) };
  const digest = contentDigest(context.fhirServerId, resource, body);
  const answer = await sendWrite(context, { method, path: resource.resourceType, body, headers }, digest);
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer, inDoubt: answer.reached };
  const { status } = answer;
  if (isSuccess(status)) {
    const stored = storedAs(answer, { type: resource.resourceType, putId: undefined });
    if (stored === undefined) return { kind: 'again', method, answer, inDoubt: true };
    // It was there already: what is there may be older than what we have.
    if (status !== 201) return { kind: 'held', held: stored };
    const contentHash = contentDigest(context.fhirServerId, resource, sentBody(resource, stored.id));
    return { kind: 'stored', written: { ...stored, method, status, contentHash } };
  }
  if (status === 412) {
    const found = await search(context, resource);
    if (found !== undefined) return found;
  }
  if (!isTransient(status)) throw failure(resource, method, answer);
  return { kind: 'again', method, answer, inDoubt: status !== 429 };
}

/** Look for it by our identifier. Undefined: it is not there, or the server does not search that way. */
async function search(context: PublishWriteContext, resource: FhirResource): Promise<Step | undefined> {
  const method = 'GET';
  const { resourceType: type, id } = resource;
  const answer = await sendRead(context, `${type}?${ownIdentifierQuery(context, resource)}`);
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer, inDoubt: true };
  if (!isSuccess(answer.status)) {
    if (isTransient(answer.status)) return { kind: 'again', method, answer, inDoubt: true };
    return undefined;
  }
  const { system = '', value = '' } = ownIdentifier(context.organisationId, id);
  const found = foundIds(answer, { type, system, value });
  if (found === undefined) return { kind: 'again', method, answer, inDoubt: true };
  if (found.length > 1)
    throw new WriteFailure(
      {
        en: `the target holds ${found.length} resources with our identifier; ask its operator to remove all but one`,
        fr: `la cible a ${found.length} ressources avec notre identifiant ; demandez à son opérateur de n’en garder qu’une`,
      },
      keyOf(resource),
      { method, answer },
    );
  const [held] = found;
  return held === undefined ? undefined : { kind: 'held', held };
}
