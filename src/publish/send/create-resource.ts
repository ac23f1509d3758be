/**
 * Creates a resource at a FHIR server that gives it its id: POST with `If-None-Exist` on our identifier (docs/publish.md).
 * If an earlier create is in doubt, a search by that identifier comes first.
 * Contract: PUB-19.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import { hasIdentifier, keyOf, sentBody, withOwnIdentifier } from '../plan/content.fhir.ts';
import { type Answered, foundAt, foundIds, type StoredAs, saysNoId, storedAs } from './read-answer.ts';
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
  if (answer.kind === 'unanswered') return { kind: 'again', method, answer };
  const { status } = answer;
  if (isSuccess(status)) {
    const type = resource.resourceType;
    const stored = storedAs(answer, { type, putId: undefined });
    if (stored === undefined) {
      if (!saysNoId(answer, type)) return { kind: 'again', method, answer };
      // The next POST would be answered the same, and may make a double.
      const found = await search(context, resource);
      if (found === undefined) throw failure(resource, method, answer);
      return found;
    }
    if (status !== 201) return heldAlready(context, resource, { stored, answer });
    const contentHash = contentDigest(context.fhirServerId, resource, sentBody(resource, stored.id));
    return { kind: 'stored', written: { ...stored, method, status, contentHash } };
  }
  if (status === 412) {
    const found = await search(context, resource);
    if (found !== undefined) return found;
  }
  if (!isTransient(status)) throw failure(resource, method, answer);
  return { kind: 'again', method, answer };
}

/** It was there already: what is there may be older than what we have. */
function heldAlready(
  { organisationId }: PublishWriteContext,
  resource: FhirResource,
  { stored, answer }: { stored: StoredAs; answer: Answered },
): Step {
  const { resourceType: type, id } = resource;
  const identifiers = foundAt(answer, type, stored.id)?.identifiers ?? [];
  // A server may drop identifiers. One that looked for something else shows others.
  if (identifiers.length === 0 || hasIdentifier(identifiers, ownIdentifier(organisationId, id)))
    return { kind: 'held', held: stored };
  throw new WriteFailure(
    {
      en: `the target takes it for ${type} ${stored.id}, which is not ours; ask its operator`,
      fr: `la cible prend cette ressource pour ${type} ${stored.id}, qui n’est pas de nous ; adressez-vous à son opérateur`,
    },
    keyOf(resource),
    answer,
  );
}

/** Look for it by our identifier. Undefined: it is not there, or the server does not search that way. */
async function search(context: PublishWriteContext, resource: FhirResource): Promise<Step | undefined> {
  const method = 'GET';
  const { resourceType: type, id } = resource;
  const answer = await sendRead(context, resource, `${type}?${ownIdentifierQuery(context, resource)}`);
  if (answer.kind === 'unanswered' || isTransient(answer.status)) return { kind: 'again', method, answer };
  if (!isSuccess(answer.status)) return undefined;
  const found = foundIds(answer, { type, ...ownIdentifier(context.organisationId, id) });
  if (found === undefined) return { kind: 'again', method, answer };
  if (found.length > 1)
    throw new WriteFailure(
      {
        en: `the target holds ${found.length} resources with our identifier; ask its operator to remove all but one`,
        fr: `la cible a ${found.length} ressources avec notre identifiant ; demandez à son opérateur de n’en garder qu’une`,
      },
      keyOf(resource),
      answer,
    );
  const [held] = found;
  return held === undefined ? undefined : { kind: 'held', held };
}
