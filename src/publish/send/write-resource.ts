/**
 * Writes one resource to a FHIR server until it is stored there, once (docs/adr/0050).
 *
 * A resource whose id at the server is known goes as PUT, which may be repeated. One without goes as POST with
 * `If-None-Exist` on our identifier. When it is not known whether a POST was done (the answer was lost, or the
 * process ended), a search by that identifier comes before the next POST.
 * Contract: PUB-26, PUB-31, PUB-42.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { isUntrusted } from '../../outbound/outbound-client.ts';
import { keyOf } from '../plan/content.fhir.ts';
import { createResource } from './create-resource.ts';
import type { FhirAnswer } from './fhir-client.ts';
import { updateResource } from './update-resource.ts';
import { failure, WriteFailure } from './write-failure.ts';
import type { PublishWriteContext, ResourceToWrite, Step, Written } from './write-request.ts';

/** How often a resource may be found elsewhere, or in another version, before the publish gives up. */
const MAX_TURNS = 6;

/** Where a resource is thought to be. */
interface Place extends ResourceToWrite {
  /** It was not there under our id, and is created under that id. */
  madeAnew: boolean;
  /** It was read, and is written over the version that was found. */
  wasHeld: boolean;
}

/** Throws WriteFailure when it is refused, or still not stored when no time is left to try again. */
export async function writeToServer(context: PublishWriteContext, item: ResourceToWrite): Promise<Written> {
  try {
    return await writeUntilStored(context, item);
  } finally {
    context.tries.end();
  }
}

async function writeUntilStored(context: PublishWriteContext, item: ResourceToWrite): Promise<Written> {
  const { resource } = item;
  let place: Place = { ...item, madeAnew: false, wasHeld: false };
  for (let turns = 0; turns < MAX_TURNS; ) {
    const { held } = place;
    const step =
      held === undefined ? await createResource(context, place) : await updateResource(context, place, held);
    if (step.kind === 'stored') return step.written;
    if (step.kind === 'again') {
      await pause(context, resource, step);
      place = { ...place, inDoubt: place.inDoubt || mayBeThere(step) };
      continue;
    }
    turns += 1;
    if (step.kind === 'held') await context.requireOwn?.();
    place =
      step.kind === 'held'
        ? { ...place, held: step.held, wasHeld: true }
        : await afterLoss(context, place, step);
  }
  const words = {
    en: 'the target gives a different answer each time; ask its operator',
    fr: 'la cible répond chaque fois autre chose ; adressez-vous à son opérateur',
  };
  throw new WriteFailure(words, keyOf(resource), undefined);
}

/**
 * Where it goes when the server does not have it: under our id again where the server takes that, else it is created
 * anew, after a search. So is what the server deleted under our id and does not take again (410).
 */
async function afterLoss(
  context: PublishWriteContext,
  place: Place,
  { method, answer }: Extract<Step, { kind: 'lost' }>,
): Promise<Place> {
  const { resource, held, ownId, madeAnew } = place;
  const isOwn = held?.id === ownId;
  if (held === undefined || (isOwn && madeAnew && !isDeleted(answer)))
    throw failure(resource, method, answer);
  if (isOwn && !madeAnew) return { ...place, held: { id: held.id, versionId: null }, madeAnew: true };
  await context.noteLost(held.id);
  return { ...place, held: undefined, inDoubt: true, ownId: isOwn ? undefined : ownId };
}

function isDeleted(answer: FhirAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 410;
}

/**
 * Whether a create may have been done: not when the server answered 429, or was not reached. A search is made only where it
 * may.
 */
function mayBeThere({ method, answer }: Extract<Step, { kind: 'again' }>): boolean {
  return method === 'GET' || (answer.kind === 'answered' ? answer.status !== 429 : answer.reached);
}

/** Waits before the next try, while nothing else has failed; throws when nothing can come of it, or no time is left. */
async function pause(
  { clock, tries, stopped }: PublishWriteContext,
  resource: FhirResource,
  { method, answer }: Extract<Step, { kind: 'again' }>,
): Promise<void> {
  const retryAfterMs = answer.kind === 'answered' ? answer.retryAfterMs : undefined;
  const delayMs = mayRecover(answer) ? tries.failed(retryAfterMs) : undefined;
  if (delayMs === undefined) throw failure(resource, method, answer);
  await clock.sleep(delayMs, stopped);
}

/** What is wrong with the address or its certificate stays so. */
function mayRecover(answer: FhirAnswer): boolean {
  return answer.kind === 'answered' || !(answer.code === 'address_refused' || isUntrusted(answer.code));
}
