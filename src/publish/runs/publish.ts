/**
 * Publish an order or a vital set to an external FHIR server.
 *
 * One publish at a time sends the records of one patient to one FHIR server, and one at a time sends one order. A second
 * one waits (docs/adr/0070). The entry in the access log is durable before anything is sent.
 * Contract: PUB-30, PUB-35, PUB-44.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { AccessEntry } from '../../privacy/access-log/access-log.ts';
import { accessEntry } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { publishError } from '../errors.ts';
import { createPublishMetrics } from '../history/publish-metrics.ts';
import type { SaysNotSent } from '../plan/not-sent.ts';
import { type PublishPlan, planPublish } from '../plan/plan-publish.ts';
import {
  otherPatientEntries,
  type Prepared,
  type PublishAct,
  type PublisherDependencies,
  type PublishRequest,
  type PublishSource,
  prepareAgain,
  preparePublish,
  type ReadyToSend,
  withReferenced,
} from '../plan/prepare-publish.ts';
import { readableContents } from '../plan/readable-contents.ts';
import { createLiveFhirServers, type LiveFhirServers } from '../servers/live-fhir-servers.ts';
import { PUBLISH, type PublishSettings } from '../servers/publish-settings.ts';
import type { LeaseKey } from './lease.store.ts';
import { type PublishLease, withLease } from './lease.ts';
import type { PublishedResource } from './run.store.ts';
import { beginPublish, type NewPublish, newPublish, runPublish } from './run-publish.ts';
import { createWaiting, type Waiting } from './waiting.ts';

export interface Publisher {
  /** 404, 403, 503 without a FHIR server, 422 for unmapped local codes, 502 when the server does not take it. */
  publish(
    source: PublishSource,
    request: PublishRequest,
    context: FacilityContext,
  ): Promise<{ target: string; published: PublishedResource[] } & SaysNotSent>;
  /** What a publish would send; sends nothing. */
  plan(source: PublishSource, request: PublishRequest, context: FacilityContext): Promise<PublishPlan>;
  close(): void;
}

type Parts = PublisherDependencies & {
  settings: PublishSettings;
  servers: LiveFhirServers;
  waiting: Waiting;
};

export function createPublisher(deps: PublisherDependencies): Publisher {
  const settings = { ...PUBLISH, ...deps.settings };
  const { clock } = settings;
  const metrics = createPublishMetrics(deps.metrics.registry);
  const servers = createLiveFhirServers(deps.keys, {
    breaker: settings.breaker,
    nowMs: () => clock.nowMs(),
    metrics,
  });
  const parts = { ...deps, settings, servers, waiting: createWaiting(settings.waitingPerAccount) };
  return {
    async publish(source, request, context) {
      const act = { source, context, action: `${source.kind}.publish` };
      const prepared = await preparePublish(parts, request, act);
      const { server } = prepared;
      const startedMs = performance.now();
      const note = (failure?: unknown) => metrics.publish(server, failure, performance.now() - startedMs);
      try {
        const answer = await publishPrepared(parts, prepared, act);
        note();
        return { target: server.name, ...answer };
      } catch (error) {
        note(error);
        throw error;
      }
    },
    plan: (source, request, context) =>
      plan(parts, request, { source, context, action: `${source.kind}.publish-dry-run` }),
    close: () => servers.close(),
  };
}

async function publishPrepared(
  parts: Parts,
  prepared: Prepared,
  act: PublishAct,
): Promise<{ published: PublishedResource[] } & SaysNotSent> {
  const { server, patientId, subject, context } = prepared;
  requireMapped(prepared);
  const waitMs = server.breaker.waitMs();
  if (waitMs > 0)
    throw publishError('circuit_open', { target: server.name, retryAfterSeconds: Math.ceil(waitMs / 1_000) });
  const { db, waiting, settings } = parts;
  const { timeoutMs } = server;
  const options = { db, clock: settings.clock, settings: settings.lease, timeoutMs, waiting };
  const key: LeaseKey = {
    organisationId: context.scope.organisationId,
    fhirServerId: server.id,
    record: `Patient/${patientId}`,
    subject: `${subject.kind}/${subject.id}`,
  };
  const begun = newPublish(prepared);
  return withLease(options, key, {
    accountId: context.caller.accountId,
    take: (wanted) => beginPublish(parts, begun, wanted),
    work: (lease, found) =>
      runPublish(parts, begun, { ...found, lease, ready: () => underLease(parts, begun, { act, lease }) }),
  });
}

/** What is to be sent, once each other patient whose data it has is in the access log. */
async function underLease(
  parts: Parts,
  begun: NewPublish,
  { act, lease }: { act: PublishAct; lease: PublishLease },
): Promise<ReadyToSend> {
  const ready = await loadCurrent(parts, begun, { act, lease });
  const entries = otherPatientEntries(ready, act);
  if (entries.length > 0) await parts.accessLog.record(entries);
  return ready;
}

/**
 * Somebody else may have published a newer state since the record was loaded. So the record is checked again under the
 * lease, and the records that it refers to are loaded now.
 */
async function loadCurrent(
  parts: Parts,
  { prepared, rendering }: NewPublish,
  { act, lease }: { act: PublishAct; lease: PublishLease },
): Promise<ReadyToSend> {
  const { subject, version } = prepared;
  const [stale, ready] = await Promise.all([
    lease.waited || act.source.changedSince(act.context.scope, subject.id, version),
    withReferenced(parts, prepared, rendering.keys),
  ]);
  if (!stale) return ready;
  const current = await prepareAgain(parts, prepared, act);
  requireMapped(current);
  return withReferenced(parts, current, newPublish(current).rendering.keys);
}

async function plan(parts: Parts, request: PublishRequest, act: PublishAct): Promise<PublishPlan> {
  const prepared = await preparePublish(parts, request, act);
  const ready = await withReferenced(parts, prepared, newPublish(prepared).rendering.keys);
  const { own, referred } = readableContents(ready);
  const shown = referred.map((resource) => shownEntry(ready, act, resource));
  await parts.accessLog.record([...otherPatientEntries(ready, act), ...shown]);
  return planPublish(parts.db, ready, [...own, ...referred]);
}

/** Of a record that a dry run shows beside the order or set, which has its entry already. */
function shownEntry(
  { patientId, context }: Prepared,
  { action }: PublishAct,
  { resourceType, id }: FhirResource,
): AccessEntry {
  return accessEntry(context, { patientId, action, resourceType, resourceId: id }, 'allowed');
}

/** 422 for local codes without a standard one, unless the server takes them. */
function requireMapped({ unmapped, server }: Prepared): void {
  if (unmapped.length === 0 || server.allowLocalCodes) return;
  const codes = [...new Set(unmapped.map(({ system, code }) => `${system ?? ''}|${code}`))];
  throw publishError('unmapped_codes', { codes });
}
