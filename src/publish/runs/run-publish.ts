/** One publish from its entry in the history to its end (docs/publish.md). Contract: PUB-7, PUB-28. */
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../platform/domain-error.ts';
import { errorFields } from '../../platform/log/log.ts';
import { publishError } from '../errors.ts';
import { keyOf, type ResourceKey, splitKey } from '../plan/content.fhir.ts';
import { type SaysNotSent, saysNotSent } from '../plan/not-sent.ts';
import type { Prepared, PublisherDependencies, ReadyToSend } from '../plan/prepare-publish.ts';
import { NOTHING_REFERENCED } from '../plan/referenced-records.ts';
import { createRendering, type Rendering } from '../plan/rendering.ts';
import { type Sent, sendLevels } from '../plan/send-levels.ts';
import { findRecorded, type RecordedResource, type StoredResource } from '../send/resource.store.ts';
import { WriteFailure } from '../send/write-failure.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import type { WantedLease } from './lease.store.ts';
import type { PublishLease } from './lease.ts';
import { type Begun, beginRun, endRun, type PublishedResource, type RunEnd } from './run.store.ts';
import type { Waiting } from './waiting.ts';

export type RunDependencies = Pick<PublisherDependencies, 'db' | 'log' | 'now'> & {
  settings: PublishSettings;
  waiting: Waiting;
};

/** A publish that is about to begin. */
export interface NewPublish {
  id: string;
  prepared: Prepared;
  /** Of what was prepared; what that refers to is not in it yet. */
  rendering: Rendering;
}

export function newPublish(prepared: Prepared): NewPublish {
  return {
    id: randomUUID(),
    prepared,
    rendering: renderingOf({ ...prepared, referenced: NOTHING_REFERENCED }),
  };
}

/** Write down that it begins, and take its lease. Undefined: someone else has that. */
export function beginPublish(
  { db, now, settings }: RunDependencies,
  { id, prepared, rendering }: NewPublish,
  lease: WantedLease,
): Promise<Begun | undefined> {
  const { subject, server, context } = prepared;
  const startedAt = now();
  return beginRun(db, context.scope, {
    subject,
    lease,
    keys: rendering.keys,
    since: new Date(startedAt.getTime() - settings.resumeMs),
    run: {
      id,
      fhirServerId: server.id,
      accountId: context.caller.accountId,
      purposeOfUse: context.purposeOfUse,
      correlationId: context.correlationId,
      startedAt,
    },
  });
}

export interface PublishAlone extends Begun {
  lease: PublishLease;
  /** What is to be sent, as it is now that the lease is held. */
  ready: () => Promise<ReadyToSend>;
}

/** Resources as they stand at the server, in the order in which they were sent; what was not sent. Throws 502. */
export async function runPublish(
  deps: RunDependencies,
  begun: NewPublish,
  { lease, ready, chainId, recorded }: PublishAlone,
): Promise<{ published: PublishedResource[] } & SaysNotSent> {
  const { id, prepared } = begun;
  const end = (ended: Omit<RunEnd, 'finishedAt'>, stored: readonly StoredResource[]) =>
    endRun(deps.db, prepared.context.scope, { id, end: { finishedAt: deps.now(), ...ended }, stored, lease });
  const progress: Progress = { resumable: true, published: [], unrecorded: [] };
  try {
    const current = await ready();
    const looked = await lookUp(deps, current, { ...begun, recorded });
    const { scope, correlationId } = current.context;
    const { server } = current;
    const sent = await sendLevels({ ...deps, ...looked, lease, chainId, scope, server, correlationId });
    const all = looked.rendering.levels.flat();
    const published = all.flatMap((resource) => toPublished(sent.done.get(keyOf(resource))));
    if (sent.failure !== undefined) {
      // A try that went on from an earlier one and stored nothing has met something that sending all anew may heal.
      progress.resumable = sent.fresh > 0 || chainId === id;
      progress.published = published;
      progress.unrecorded = sent.unrecorded;
      throw noteFailure(deps, current, { sent, all: all.length });
    }
    server.breaker.note(true);
    await end({ outcome: 'done', resumable: false, failure: null, published }, sent.unrecorded);
    lease.noteGivenBack();
    return { published, ...saysNotSent(all, current.referenced) };
  } catch (error) {
    const failure = error instanceof DomainError ? error.message : 'The service failed.';
    const { unrecorded, ...reached } = progress;
    await end({ outcome: 'failed', failure, ...reached }, unrecorded).catch((lost: unknown) =>
      noteUnrecorded(deps, prepared, lost),
    );
    throw error;
  }
}

/** How far a publish that failed has come. */
interface Progress extends Pick<RunEnd, 'resumable' | 'published'> {
  unrecorded: readonly StoredResource[];
}

interface Looked {
  rendering: Rendering;
  recorded: ReadonlyMap<ResourceKey, RecordedResource>;
}

function renderingOf(ready: ReadyToSend): Rendering {
  return createRendering({ ...ready, organisationId: ready.context.scope.organisationId });
}

/** What is to be sent, and what the server is known to hold of it; `recorded` is of what the publish began with. */
async function lookUp(
  { db }: RunDependencies,
  ready: ReadyToSend,
  { prepared, rendering: first, recorded }: NewPublish & Pick<Begun, 'recorded'>,
): Promise<Looked> {
  const { records, withheld } = ready.referenced;
  if (ready.resources === prepared.resources && records.length === 0 && withheld.size === 0)
    return lookedUp(first, recorded);
  const rendering = renderingOf(ready);
  const asked = new Set(first.keys);
  const keys = rendering.keys.filter((key) => !asked.has(key));
  if (keys.length === 0) return lookedUp(rendering, recorded);
  const more = await findRecorded(db, ready.context.scope, { fhirServerId: ready.server.id, keys });
  return lookedUp(rendering, [...recorded, ...more]);
}

function lookedUp(rendering: Rendering, found: readonly RecordedResource[]): Looked {
  for (const { key, serverId } of found) if (serverId !== null) rendering.known.set(key, serverId);
  return { rendering, recorded: new Map(found.map((item) => [item.key, item])) };
}

/** Logs why sending stopped. Returns what the caller is told. */
function noteFailure(
  { log }: RunDependencies,
  { server, context }: Prepared,
  { sent, all }: { sent: Sent; all: number },
): unknown {
  const { failure } = sent;
  const answer = answerOf(sent, { target: server.name, all });
  if (failure instanceof WriteFailure) server.breaker.note(!countsAgainst(failure, sent));
  const fields = {
    event: 'publish.failed',
    correlationId: context.correlationId,
    organisationId: context.scope.organisationId,
    facilityId: context.scope.facilityId,
    targetId: server.id,
    count: sent.done.size,
    code: answer instanceof DomainError ? answer.code : undefined,
    status: failure instanceof WriteFailure ? failure.status : undefined,
  };
  if (answer instanceof DomainError) log.warn(fields, 'publish stopped');
  else log.error({ ...fields, ...errorFields(failure) }, 'publish stopped');
  return answer;
}

/** The caller is told of the failure itself; the next publish finds this one as interrupted, and goes on. */
function noteUnrecorded({ log }: RunDependencies, { server, context }: Prepared, error: unknown): void {
  const fields = {
    event: 'publish.unrecorded',
    correlationId: context.correlationId,
    organisationId: context.scope.organisationId,
    facilityId: context.scope.facilityId,
    targetId: server.id,
    ...errorFields(error),
  };
  log.error(fields, 'the result of a publish could not be stored');
}

/**
 * Whether a publish counts against its server (docs/adr/0072): that, or what stands before it, does not work at all
 * (RFC 9110, sections 15.6.3 to 15.6.5). A FHIR server that took something works, and one that fails on a resource (500) may
 * take every other.
 */
function countsAgainst({ status }: WriteFailure, { fresh }: Sent): boolean {
  return fresh === 0 && (status === undefined || [502, 503, 504].includes(status));
}

/** What the caller is told: 502 for what the server did; failures of ours stay what they are. */
function answerOf({ failure, done }: Sent, { target, all }: { target: string; all: number }): unknown {
  if (!(failure instanceof WriteFailure)) return failure;
  const { type, id } = splitKey(failure.key);
  const stopped = { target, record: `${type} ${id}`, reason: failure.message, stored: done.size, all };
  const options = { cause: failure };
  return failure.unavailable
    ? publishError('target_unavailable', stopped, options)
    : publishError('target_refused', stopped, options);
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
