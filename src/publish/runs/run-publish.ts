/**
 * One publish under its lease, from its entry in the history to its end (docs/publish.md).
 * Contract: PUB-7, PUB-28, PUB-30, PUB-35, PUB-58.
 */
import { randomUUID } from 'node:crypto';
import { errorFields } from '../../platform/log/log.ts';
import { publishError } from '../errors.ts';
import { keyOf, type ResourceKey, splitKey } from '../plan/content.fhir.ts';
import {
  lookUpRecorded,
  otherPatientEntries,
  type PrepareDependencies,
  type Prepared,
  type PublisherDependencies,
  prepareAgain,
  type ReadyToSend,
  requirePartsOf,
  requireStillAllowed,
  requireUnchangedServer,
  withReferenced,
} from '../plan/prepare-publish.ts';
import { saysNotSent } from '../plan/referenced-records.ts';
import type { Published, PublishedResource } from '../publish.schema.ts';
import type { StoredResource } from '../send/resource.store.ts';
import { type Sent, sendLevels } from '../send/send-levels.ts';
import { WriteFailure } from '../send/write-failure.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import type { PublishLease } from './lease.ts';
import { beginRun, endRun } from './run.store.ts';
import type { Waiting } from './waiting.ts';

export type RunDependencies = PrepareDependencies &
  Pick<PublisherDependencies, 'log' | 'now'> & { settings: PublishSettings; waiting: Waiting };

/**
 * The resources as the server has them now, in the order in which they were sent, and what was not sent. `prepared`: as it
 * was before the lease was held.
 */
export async function runPublish(
  deps: RunDependencies,
  prepared: Prepared,
  lease: PublishLease,
): Promise<Omit<Published, 'target'>> {
  const { db, now } = deps;
  const { server } = prepared;
  const { scope, correlationId } = prepared.context;
  if (lease.waited) {
    await prepared.context.stillAllowed();
    await requireUnchangedServer(deps, prepared);
  }
  const id = randomUUID();
  const chainId = await begin(deps, prepared, id);
  const reached = { resumable: true, published: [] as PublishedResource[] };
  try {
    const current = await loadCurrent(deps, prepared, lease);
    const found = await lookUpRecorded(db, current);
    const requireAllowed = () => requireStillAllowed(deps, current);
    const requireParts = (keys: readonly ResourceKey[]) => requirePartsOf(current, keys);
    const sending = { lease, chainId, scope, server, correlationId, requireAllowed, requireParts };
    const sent = await sendLevels({ ...deps, ...found, ...sending });
    const all = found.rendering.levels.flat();
    reached.published = all.flatMap((resource) => toPublished(sent.done.get(keyOf(resource))));
    if (sent.failure !== undefined) {
      // If this try continued an earlier one and stored nothing, sending everything again may help.
      reached.resumable = sent.fresh > 0 || chainId === id;
      throw noteFailure(deps, prepared, { sent, all: all.length });
    }
    server.breaker.note(true);
    const { published } = reached;
    await endRun(db, scope, { id, finishedAt: now(), failure: null, resumable: false, published });
    return { published, ...saysNotSent(all, current.referenced) };
  } catch (error) {
    const failure = isTold(error) ? error.message : 'The service failed.';
    await endRun(db, scope, { id, finishedAt: now(), failure, ...reached }).catch((lost: unknown) =>
      noteUnrecorded(deps, prepared, lost),
    );
    throw error;
  }
}

/** Returns the id of the chain of tries: `id` itself, unless this publish continues an earlier one. */
function begin({ db, now, settings }: RunDependencies, prepared: Prepared, id: string): Promise<string> {
  const { subject, server, context } = prepared;
  const startedAt = now();
  return beginRun(db, context.scope, {
    subject,
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

/**
 * What is to be sent, once each other patient whose data it has is in the access log. Somebody else may have published a
 * newer state since the record was loaded, or the same one as newer maps code it. So both are checked again under the lease,
 * and the records that it refers to are loaded now.
 */
async function loadCurrent(
  deps: RunDependencies,
  prepared: Prepared,
  lease: PublishLease,
): Promise<ReadyToSend> {
  const [isStale, loaded] = await Promise.all([
    lease.waited || isOutdated(prepared),
    withReferenced(deps, prepared),
  ]);
  const ready = isStale ? await withReferenced(deps, await prepareAgain(deps, prepared)) : loaded;
  const entries = otherPatientEntries(ready);
  if (entries.length > 0) await deps.accessLog.record(entries);
  return ready;
}

async function isOutdated({ source, subject, version, areMapsSame, context }: Prepared): Promise<boolean> {
  const [isChanged, isCodedAlike] = await Promise.all([
    source.changedSince(context.scope, subject.id, version),
    areMapsSame(),
  ]);
  return isChanged || !isCodedAlike;
}

/** Logs why sending stopped. Returns what the caller is told. */
function noteFailure(
  { log }: RunDependencies,
  prepared: Prepared,
  { sent, all }: { sent: Sent; all: number },
): unknown {
  const { failure } = sent;
  const { server } = prepared;
  const answer = answerOf(sent, { target: server.name, all });
  const isOfServer = failure instanceof WriteFailure;
  if (isOfServer) server.breaker.note(!countsAgainst(failure, sent));
  const fields = {
    ...logFields('publish.failed', prepared),
    count: sent.done.size,
    code: isTold(answer) ? answer.code : undefined,
    status: isOfServer ? failure.status : undefined,
  };
  if (isTold(answer)) log.warn(fields, 'publish stopped');
  else log.error({ ...fields, ...errorFields(failure) }, 'publish stopped');
  return answer;
}

/** Whether callers are told it in its own words, as every domain error, and that a session has ended, which is an error of HTTP. */
function isTold(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'words' in error;
}

/** The caller is told why the publish failed. The next publish finds this one interrupted, and continues it. */
function noteUnrecorded({ log }: RunDependencies, prepared: Prepared, error: unknown): void {
  const fields = { ...logFields('publish.unrecorded', prepared), ...errorFields(error) };
  log.error(fields, 'the result of a publish could not be stored');
}

function logFields(event: string, { server, context: { scope, correlationId } }: Prepared) {
  const { organisationId, facilityId } = scope;
  return { event, correlationId, organisationId, facilityId, targetId: server.id };
}

/**
 * Whether a publish shows that its server is down (docs/adr/0072): the server, or what stands in front of it, does not
 * work at all (RFC 9110, sections 15.6.3 to 15.6.5). A server that stored something works. One that fails on a resource
 * (500) may store every other.
 */
function countsAgainst({ status, unavailable }: WriteFailure, { fresh }: Sent): boolean {
  return fresh === 0 && unavailable && (status === undefined || [502, 503, 504].includes(status));
}

/** What the caller is told: 502 for a failure of the server. Failures of ours do not change. */
function answerOf({ failure, done }: Sent, { target, all }: { target: string; all: number }): unknown {
  if (!(failure instanceof WriteFailure)) return failure;
  const { type, id } = splitKey(failure.key);
  const stopped = { target, record: `${type} ${id}`, reason: failure.words, stored: done.size, all };
  const cause = { cause: failure };
  if (!failure.unavailable) return publishError('target_refused', stopped, cause);
  const { retryAfterMs } = failure;
  const wait = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return publishError('target_unavailable', { ...stopped, ...wait }, cause);
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
