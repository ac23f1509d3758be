/**
 * Finds out whether a FHIR server takes what a publish sends: writes a harmless resource as a publish would, writes it
 * again, reads it and removes it. What was written is removed also when a later step fails.
 * Contract: PUB-53.
 */
import { randomUUID } from 'node:crypto';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import type { FhirAnswer, FhirClient, FhirRequest } from '../send/fhir-client.ts';
import { foundAt, foundIds, type StoredAs } from '../send/read-answer.ts';
import { createRetryBudget, type RetryBudget } from '../send/retry.ts';
import { isSuccess, WriteFailure } from '../send/write-failure.ts';
import { ownIdentifierQuery, type PublishWriteContext } from '../send/write-request.ts';
import { writeToServer } from '../send/write-resource.ts';
import type { FhirServer } from './fhir-server.ts';
import { PUBLISH } from './publish-settings.ts';

export interface ProbeStep {
  step: 'write' | 'write again' | 'read' | 'remove';
  /** Below the base address. */
  path: string;
  done: boolean;
}

export interface Probe {
  /** What was written. */
  resource: FhirResource;
  steps: ProbeStep[];
  /** Null when nothing was written. */
  removed: boolean | null;
  /** What a publish would meet too. */
  faults: string[];
  advice: string[];
}

type ProbedServer = Pick<FhirServer, 'id' | 'idPolicy' | 'timeoutMs'>;

const TYPE = 'Observation';

/** It has no patient and is marked as a mistake, so it does no harm if it cannot be removed. */
export function probeResource({ id: fhirServerId }: ProbedServer): FhirResource {
  const id = randomUUID();
  return {
    resourceType: TYPE,
    id,
    identifier: [ownIdentifier(fhirServerId, id)],
    status: 'entered-in-error',
    code: { text: 'Connection test of interchange. No finding, and of no patient. It may be deleted.' },
  };
}

/** A probe while it goes on. */
interface Probing {
  client: FhirClient;
  server: ProbedServer;
  retryBudget: RetryBudget;
  probe: Probe;
  /** Where the server has it. */
  held: StoredAs | undefined;
  /** Something was sent that the server may have done. */
  mayBeThere: boolean;
}

export async function probeFhirServer(
  client: FhirClient,
  server: ProbedServer,
  resource: FhirResource,
): Promise<Probe> {
  const probe: Probe = { resource, steps: [], removed: null, faults: [], advice: [] };
  const retryBudget = createRetryBudget(PUBLISH.retry, PUBLISH.clock);
  const probing: Probing = { client, server, retryBudget, probe, held: undefined, mayBeThere: false };
  try {
    await write(probing, 'write');
    const { id } = await write(probing, 'write again');
    await read(client, probe, id);
  } catch (error) {
    if (!(error instanceof WriteFailure)) throw error;
    const what = error.unavailable ? 'the server did not store the probe' : 'the server refuses the probe';
    probe.faults.push(`${TYPE}: ${what}: ${error.message}.`);
  } finally {
    const { held, mayBeThere } = probing;
    if (mayBeThere) await remove(client, probe, held?.id ?? (await findLost(client, server, resource)));
  }
  return probe;
}

/** As a publish would. */
async function write(probing: Probing, step: ProbeStep['step']): Promise<StoredAs> {
  const { client, server, retryBudget, probe } = probing;
  const { resource } = probe;
  const tries = retryBudget.tries();
  const ownId = server.idPolicy === 'client' ? resource.id : undefined;
  const held = probing.held ?? (ownId === undefined ? undefined : { id: ownId, versionId: null });
  const noted = note(probe, step, held?.id);
  const context: PublishWriteContext = {
    organisationId: server.id,
    fhirServerId: server.id,
    correlationId: randomUUID(),
    clock: PUBLISH.clock,
    tries,
    noteLost: async () => undefined,
    async send(request) {
      const answer = await client.send(request, Math.min(server.timeoutMs, tries.begin()));
      probing.mayBeThere ||= request.method !== 'GET' && mayBeDone(answer);
      return answer;
    },
  };
  probing.held = await writeToServer(context, { resource, held, inDoubt: false, ownId });
  noted.path = `${TYPE}/${probing.held.id}`;
  noted.done = true;
  return probing.held;
}

function note({ steps }: Probe, step: ProbeStep['step'], id: string | undefined): ProbeStep {
  const noted = { step, path: id === undefined ? TYPE : `${TYPE}/${id}`, done: false };
  steps.push(noted);
  return noted;
}

/** A refusal (4xx) is certain; any other answer, or none, is not. */
function mayBeDone(answer: FhirAnswer): boolean {
  if (answer.kind === 'unanswered') return answer.reached;
  return answer.status < 400 || answer.status >= 500;
}

async function read(client: FhirClient, probe: Probe, id: string): Promise<void> {
  const noted = note(probe, 'read', id);
  const answer = await client.send({ method: 'GET', path: noted.path });
  noted.done = answer.kind === 'answered' && foundAt(answer, TYPE, id) !== undefined;
  if (!noted.done)
    probe.advice.push(
      `${TYPE}: the server does not return what was written (GET ${said(answer)}). A publish needs that when another version or nothing is there.`,
    );
}

/** The id of a probe whose answer was lost; undefined when it cannot be found out. */
async function findLost(
  client: FhirClient,
  { id: organisationId, idPolicy }: ProbedServer,
  resource: FhirResource,
): Promise<string | undefined> {
  if (idPolicy === 'client') return resource.id;
  const query = ownIdentifierQuery({ organisationId }, resource);
  const answer = await sendTwice(client, { method: 'GET', path: `${TYPE}?${query}` });
  if (answer.kind === 'unanswered') return undefined;
  return foundIds(answer, { type: TYPE, ...ownIdentifier(organisationId, resource.id) })?.[0]?.id;
}

async function remove(client: FhirClient, probe: Probe, id: string | undefined): Promise<void> {
  const noted = note(probe, 'remove', id);
  const answer =
    id === undefined ? undefined : await sendTwice(client, { method: 'DELETE', path: noted.path });
  noted.done = answer?.kind === 'answered' && (isSuccess(answer.status) || isGone(answer.status));
  probe.removed = noted.done;
  if (noted.done) return;
  const why = answer === undefined ? 'its id is not known' : `DELETE ${said(answer)}`;
  probe.advice.push(
    `The probe could not be removed: ${why}. ${noted.path} with our identifier ${probe.resource.id} may still be there. It belongs to no patient and is marked as entered in error. Ask the operator of the server to remove it.`,
  );
}

function isGone(status: number): boolean {
  return status === 404 || status === 410;
}

/** Sends again when there was no answer, or a 5xx. */
async function sendTwice(client: FhirClient, request: FhirRequest): Promise<FhirAnswer> {
  const answer = await client.send(request);
  const isFinal = answer.kind === 'answered' && answer.status < 500;
  return isFinal ? answer : client.send(request);
}

function said(answer: FhirAnswer): string {
  return answer.kind === 'answered' ? `answered ${answer.status}` : `was not answered: ${answer.code}`;
}
