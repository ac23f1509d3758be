/**
 * Publish an order or a vital set to an external FHIR server.
 *
 * One publish at a time sends the records of one patient to one FHIR server, and one at a time sends one order. A second
 * one waits (docs/adr/0070). The entry in the access log is durable before anything is sent.
 * Contract: PUB-33, PUB-44.
 */
import { type Span, traced } from '../../platform/trace/trace.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { publishError } from '../errors.ts';
import { createPublishMetrics } from '../history/publish-metrics.ts';
import { planPublish } from '../plan/plan-publish.ts';
import {
  type Prepared,
  type PublisherDependencies,
  type PublishRequest,
  type PublishSource,
  preparePublish,
  requireMapped,
} from '../plan/prepare-publish.ts';
import type { OfRecord, Published, PublishPlan } from '../publish.schema.ts';
import type { BreakerState } from '../send/breaker.ts';
import { createLiveFhirServers, type LiveFhirServer } from '../servers/live-fhir-servers.ts';
import { PUBLISH } from '../servers/publish-settings.ts';
import { withLease } from './lease.ts';
import { type RunDependencies, runPublish } from './run-publish.ts';
import { createWaiting } from './waiting.ts';

export interface Publisher {
  /** 404, 403, 503 without a FHIR server, 422 for unmapped local codes, 502 when the server does not take it. */
  publish(
    source: PublishSource,
    request: PublishRequest,
    context: FacilityContext,
  ): Promise<OfRecord<Published>>;
  /** What a publish would send; sends nothing. */
  plan(
    source: PublishSource,
    request: PublishRequest,
    context: FacilityContext,
  ): Promise<OfRecord<PublishPlan>>;
  /** Whether this process leaves a FHIR server alone because it did not answer. */
  stateOf(fhirServerId: string): BreakerState;
  close(): void;
}

export function createPublisher(deps: PublisherDependencies): Publisher {
  const settings = { ...PUBLISH, ...deps.settings };
  const metrics = createPublishMetrics(deps.metrics.registry);
  const servers = createLiveFhirServers(deps.keys, { settings, metrics });
  const parts = { ...deps, settings, servers, waiting: createWaiting(settings.waitingPerAccount) };
  return {
    async publish(source, request, context) {
      const act = { source, context, action: `${source.kind}.publish` as const };
      const prepared = await preparePublish(parts, request, act);
      const { server } = prepared;
      const startedMs = performance.now();
      const note = (failure?: unknown) => {
        metrics.publish(server, failure, performance.now() - startedMs);
        deps.activity?.note(context.scope, failure === undefined ? 'publishes' : 'publish-failures');
      };
      try {
        const answer = await traced(publishSpan(prepared), () => publishPrepared(parts, prepared));
        note();
        return { recordId: prepared.subject.id, target: server.name, ...answer };
      } catch (error) {
        note(error);
        throw error;
      }
    },
    plan: (source, request, context) =>
      planPublish(parts, request, { source, context, action: `${source.kind}.publish-dry-run` as const }),
    stateOf: (fhirServerId) => servers.stateOf(fhirServerId),
    close: () => servers.close(),
  };
}

function publishSpan({ server, subject, context }: Prepared): Span {
  return {
    name: 'publish',
    kind: 'internal',
    attributes: {
      'interchange.target_id': server.id,
      'interchange.kind': subject.kind,
      'interchange.correlation_id': context.correlationId,
    },
  };
}

/** Publish it when its turn has come: alone among the publishes of this patient and of this record. */
function publishPrepared(parts: RunDependencies, prepared: Prepared): Promise<Omit<Published, 'target'>> {
  const { server, patientId, subject, context } = prepared;
  requireMapped(prepared);
  // Who may try the server again is decided when its turn has come: the others wait for that one.
  if (server.breaker.isOpen()) requireWorking(server);
  const key = {
    organisationId: context.scope.organisationId,
    fhirServerId: server.id,
    records: [`Patient/${patientId}`, `${subject.kind}/${subject.id}`] as const,
  };
  return withLease({ ...parts, server }, key, {
    accountId: context.caller.accountId,
    work: (lease) => {
      // The publishes that it waited for may have found that the server does not answer.
      requireWorking(server);
      return runPublish(parts, prepared, lease);
    },
  });
}

/** Throws while the server is left alone because it did not answer. */
function requireWorking({ name: target, breaker }: LiveFhirServer): void {
  const waitMs = breaker.waitMs();
  if (waitMs > 0)
    throw publishError('circuit_open', { target, retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}
