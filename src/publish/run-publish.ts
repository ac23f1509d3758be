/** One publish from its entry in the history to its end (design 3.5). */
import { randomUUID } from 'node:crypto';
import { HttpError } from '../platform/http/errors.ts';
import { errorFields } from '../platform/log/log.ts';
import { keyOf, splitKey } from './content.fhir.ts';
import type { Lease } from './lease.ts';
import type { Prepared, PublisherDependencies } from './prepare-publish.ts';
import type { PublishSettings } from './publish-settings.ts';
import { createRendering } from './rendering.ts';
import { findRecorded, type StoredResource } from './resource.store.ts';
import { beginRun, endRun, type PublishedResource } from './run.store.ts';
import { type Sent, sendLevels } from './send-levels.ts';
import { WriteFailure } from './write-resource.ts';

export type RunDependencies = Pick<PublisherDependencies, 'db' | 'log' | 'now'> & {
  settings: PublishSettings;
};

/** Resources as they stand at the target, in the order in which they were sent. Throws 502 with what failed. */
export async function runPublish(
  deps: RunDependencies,
  prepared: Prepared,
  lease: Lease,
): Promise<PublishedResource[]> {
  const { db, now } = deps;
  const { target, context } = prepared;
  const { scope, correlationId } = context;
  const id = randomUUID();
  const rendering = createRendering({ ...prepared, organisationId: scope.organisationId });
  const [chainId, found] = await Promise.all([
    begin(deps, prepared, id),
    findRecorded(db, scope, { targetId: target.id, keys: rendering.keys }),
  ]);
  for (const { key, serverId } of found) if (serverId !== null) rendering.known.set(key, serverId);
  const recorded = new Map(found.map((item) => [item.key, item]));
  const sent = await sendLevels({
    ...deps,
    scope,
    target,
    correlationId,
    lease,
    rendering,
    recorded,
    chainId,
  });
  const published = rendering.levels
    .flat()
    .flatMap((resource) => toPublished(sent.done.get(keyOf(resource))));
  const end = { finishedAt: now(), published };
  if (sent.failure === undefined) {
    target.circuit.note(true);
    await endRun(db, scope, id, { ...end, outcome: 'done', resumable: false, failure: null });
    return published;
  }
  const answer = answerOf(sent, { target: target.name, all: rendering.levels.flat().length });
  noteFailure(deps, prepared, { sent, answer });
  // A try that went on from an earlier one and stored nothing has met something that sending all anew may heal.
  const resumable = sent.fresh > 0 || chainId === id;
  const failure = answer instanceof HttpError ? answer.message : 'The service failed.';
  await endRun(db, scope, id, { ...end, outcome: 'failed', resumable, failure }).catch(() => undefined);
  throw answer;
}

function begin(
  { db, now, settings }: RunDependencies,
  { subject, target, context }: Prepared,
  id: string,
): Promise<string> {
  const startedAt = now();
  return beginRun(db, context.scope, {
    subject,
    since: new Date(startedAt.getTime() - settings.resumeMs),
    run: {
      id,
      targetId: target.id,
      accountId: context.caller.accountId,
      purposeOfUse: context.purposeOfUse,
      correlationId: context.correlationId,
      startedAt,
    },
  });
}

function noteFailure(
  { log }: RunDependencies,
  { target, context }: Prepared,
  { sent, answer }: { sent: Sent; answer: unknown },
): void {
  const { failure } = sent;
  if (failure instanceof WriteFailure) target.circuit.note(!failure.targetDown);
  const fields = {
    event: 'publish.failed',
    correlationId: context.correlationId,
    organisationId: context.scope.organisationId,
    facilityId: context.scope.facilityId,
    targetId: target.id,
    count: sent.done.size,
    code: answer instanceof HttpError ? answer.code : undefined,
    status: failure instanceof WriteFailure ? failure.status : undefined,
  };
  if (answer instanceof HttpError) log.warn(fields, 'publish stopped');
  else log.error({ ...fields, ...errorFields(failure) }, 'publish stopped');
}

/** What the caller is told: 502 for what the target did; failures of ours stay what they are. */
function answerOf({ failure, done }: Sent, { target, all }: { target: string; all: number }): unknown {
  if (!(failure instanceof WriteFailure)) return failure;
  const { type, id } = splitKey(failure.key);
  return new HttpError(
    502,
    failure.targetDown ? 'target_unavailable' : 'target_refused',
    `Publishing to ${target} stopped at ${type} ${id}: ${failure.message}. ${done.size} of ${all} resources are stored there. Publish again to go on.`,
    { cause: failure },
  );
}

function toPublished(stored: StoredResource | undefined): PublishedResource[] {
  if (stored === undefined) return [];
  const { type, id: localId } = splitKey(stored.key);
  return [
    {
      resourceType: type,
      localId,
      id: stored.serverId,
      versionId: stored.versionId,
      method: stored.method,
      status: stored.status,
      publishedAt: stored.publishedAt.toISOString(),
    },
  ];
}
