/**
 * Writes a resource where the server has it: PUT, with `If-Match` on the version that is on record (FHIR R4,
 * "Managing Resource Contention"). Where the server says that there is another version, or nothing, it is read:
 * what is there may be someone else's, after a FHIR server was reset (docs/adr/0050).
 * Contract: PUB-17, PUB-39, PUB-40, PUB-41.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import { hasIdentifier, keyOf, sentBody, withOwnIdentifier } from '../plan/content.fhir.ts';
import { isShared } from '../plan/resource-types.ts';
import {
  type Answered,
  type FoundResource,
  foundAt,
  issuesOf,
  type StoredAs,
  storedAs,
} from './read-answer.ts';
import { isTransient } from './retry.ts';
import { failure, isSuccess, WriteFailure } from './write-failure.ts';
import {
  contentDigest,
  type PublishWriteContext,
  type ResourceToWrite,
  type Step,
  sendRead,
  sendWrite,
} from './write-request.ts';

const METHOD = 'PUT';

export async function updateResource(
  context: PublishWriteContext,
  { resource: given, ownId, wasHeld }: Pick<ResourceToWrite, 'resource' | 'ownId'> & { wasHeld: boolean },
  held: StoredAs,
): Promise<Step> {
  const { id, versionId } = held;
  const resource = id === given.id ? given : withOwnIdentifier(given, context.organisationId);
  const body = sentBody(resource, id);
  const contentHash = contentDigest(context.fhirServerId, resource, body);
  const path = `${resource.resourceType}/${id}`;
  const headers = versionId === null ? {} : { 'if-match': `W/"${versionId}"` };
  const answer = await sendWrite(context, { method: METHOD, path, body, headers }, contentHash);
  if (answer.kind === 'unanswered') return { kind: 'again', method: METHOD, answer };
  const { status } = answer;
  if (isSuccess(status)) return storedStep(resource, { id, contentHash, answer });
  if (isMissing(status, { isOwn: id === ownId }) || isOtherVersion(status, held))
    return look(context, resource, { held, wasHeld, answer });
  if (!isTransient(status) && !isAtOnce(status, resource)) throw failure(resource, METHOD, answer);
  return { kind: 'again', method: METHOD, answer };
}

function storedStep(
  resource: FhirResource,
  { id, contentHash, answer }: { id: string; contentHash: string; answer: Answered },
): Step {
  const stored = storedAs(answer, { type: resource.resourceType, putId: id });
  if (stored === undefined && issuesOf(answer).length > 0) throw failure(resource, METHOD, answer);
  if (stored === undefined) return { kind: 'again', method: METHOD, answer };
  if (stored.id !== id)
    throw new WriteFailure(
      {
        en: `${METHOD} answered ${answer.status} with another id than the one in the request`,
        fr: `${METHOD} a reçu ${answer.status} avec un autre identifiant que celui de la requête`,
      },
      keyOf(resource),
      answer,
    );
  const { status } = answer;
  return { kind: 'stored', written: { ...stored, method: METHOD, status, contentHash } };
}

/** 405: nothing is there, and the server does not let others choose an id (FHIR R4, "Rejecting updates"). */
function isMissing(status: number, { isOwn }: { isOwn: boolean }): boolean {
  return status === 404 || status === 410 || (status === 405 && !isOwn);
}

/** Servers answer 412, some 409, when `If-Match` does not. */
function isOtherVersion(status: number, { versionId }: StoredAs): boolean {
  return versionId !== null && (status === 412 || status === 409);
}

/** Without a version, 409 tells that somebody else writes it in this moment: a publish of another patient. */
function isAtOnce(status: number, { resourceType }: FhirResource): boolean {
  return status === 409 && isShared(resourceType);
}

/** Reads what the server has there. Ours: write it again, over that version. Nothing, or a record of somebody else: lost. */
async function look(
  context: PublishWriteContext,
  resource: FhirResource,
  { held, wasHeld, answer: refused }: { held: StoredAs; wasHeld: boolean; answer: Answered },
): Promise<Step> {
  const lost: Step = { kind: 'lost', method: METHOD, answer: refused };
  const method = 'GET';
  const answer = await sendRead(context, resource, `${resource.resourceType}/${held.id}`);
  if (answer.kind === 'unanswered' || isTransient(answer.status)) return { kind: 'again', method, answer };
  if (answer.status === 404 || answer.status === 410) return lost;
  const found = isSuccess(answer.status) ? foundAt(answer, resource.resourceType, held.id) : undefined;
  if (found !== undefined) {
    if (!isOurs(context, resource, found)) return lost;
    // The version was right: the server does not read `If-Match` as we write it.
    const isUnread = found.versionId === held.versionId;
    // Publishes of other patients write it too. Of many at once, each would find another version each time.
    const isContended = wasHeld && isShared(resource.resourceType);
    return {
      kind: 'held',
      held: { id: held.id, versionId: isUnread || isContended ? null : found.versionId },
    };
  }
  // It cannot be read: what the PUT said must do.
  if (isOtherVersion(refused.status, held)) throw failure(resource, METHOD, refused);
  return lost;
}

/** By our identifier, or by our own id. Another organisation gives that only where it imported the same UUID (docs/publish.md). */
function isOurs(
  { organisationId }: PublishWriteContext,
  { id }: FhirResource,
  found: FoundResource,
): boolean {
  return found.id === id || hasIdentifier(found.identifiers, ownIdentifier(organisationId, id));
}
