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

/** A publish before it has its lease. */
export interface NewPublish {
  id: string;
  prepared: Prepared;
  /** Of the prepared record, without the records that it refers to. */
  rendering: Rendering;
}

export function newPublish(prepared: Prepared): NewPublish {
  return {
    id: randomUUID(),
    prepared,
    rendering: renderingOf({ ...prepared, referenced: NOTHING_REFERENCED }),
  };
}

/** Record that the publish begins, and take its lease. Undefined: somebody else has the lease. */
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
  /** Loads what is to be sent, now that the lease is held. */
  ready: () => Promise<ReadyToSend>;
}

/** The resources as the server has them now, in the order in which they were sent, and what was not sent. */
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
      // If this try continued an earlier one and stored nothing, sending everything again may help.
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

/** What is to be sent, and what is recorded of it. `recorded` covers the resources that the publish began with. */
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

/** The caller is told why the publish failed. The next publish finds this one interrupted, and continues it. */
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
 * Whether a publish shows that its server is down (docs/adr/0072): the server, or what stands in front of it, does not
 * work at all (RFC 9110, sections 15.6.3 to 15.6.5). A server that stored something works. One that fails on a resource
 * (500) may store every other.
 */
function countsAgainst({ status }: WriteFailure, { fresh }: Sent): boolean {
  return fresh === 0 && (status === undefined || [502, 503, 504].includes(status));
}

/** What the caller is told: 502 for a failure of the server. Failures of ours do not change. */
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
