/** What Prometheus sees of publishing, by server. Contract: PUB-57. */
import { Gauge, type Registry } from 'prom-client';
import { durationsOf } from '../../outbound/request-metrics.ts';
import { DomainError } from '../../platform/domain-error.ts';
import type { FhirAnswer } from '../send/fhir-client.ts';
import type { FhirServer } from '../servers/fhir-server.ts';

type ServerLabel = 'organisation' | 'target';
type Named = Pick<FhirServer, 'organisationId' | 'name'>;

export interface PublishMetrics {
  /** One request to a FHIR server, retries and searches among them. */
  request(server: Named, answer: FhirAnswer, durationMs: number): void;
  /** One publish, from the time that its server was known; `failure` undefined: everything is stored. */
  publish(server: Named, failure: unknown, durationMs: number): void;
  /** Whether the breaker of each server in use is open; asked at each scrape. */
  breakers(read: () => { server: Named; open: boolean }[]): void;
}

export function createPublishMetrics(registry: Registry): PublishMetrics {
  const labelNames: (ServerLabel | 'outcome')[] = ['organisation', 'target', 'outcome'];
  const requests = durationsOf(registry, {
    name: 'interchange_publish_request_duration_seconds',
    help: 'Duration of requests to FHIR servers, by target and outcome: the HTTP status, other, timeout or unanswered.',
    labelNames,
  });
  const publishes = durationsOf(registry, {
    name: 'interchange_publish_duration_seconds',
    help: 'Duration of publishes, by target and outcome.',
    labelNames,
  });
  return {
    request: (server, answer, durationMs) =>
      requests.observe({ ...labelsOf(server), outcome: outcomeOf(answer) }, durationMs / 1_000),
    publish: (server, failure, durationMs) =>
      publishes.observe({ ...labelsOf(server), outcome: publishOutcome(failure) }, durationMs / 1_000),
    breakers(read) {
      new Gauge<ServerLabel>({
        name: 'interchange_publish_circuit_open',
        help: '1 while this process sends nothing to the target because it did not answer, else 0.',
        labelNames: ['organisation', 'target'],
        registers: [registry],
        // Of several processes of one machine: whether any of them does.
        aggregator: 'max',
        collect() {
          this.reset();
          for (const { server, open } of read()) this.set(labelsOf(server), Number(open));
        },
      });
    },
  };
}

function labelsOf({ organisationId, name }: Named): Record<ServerLabel, string> {
  return { organisation: organisationId ?? 'all', target: name };
}

/** Every label value is a line at each scrape: a server that makes statuses up makes no lines. */
const KNOWN_STATUSES: ReadonlySet<number> = new Set([
  200, 201, 204, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 422,
  429, 500, 501, 502, 503, 504,
]);

function outcomeOf(answer: FhirAnswer): string {
  if (answer.kind === 'answered') return KNOWN_STATUSES.has(answer.status) ? String(answer.status) : 'other';
  return answer.code === 'TIMEOUT' ? 'timeout' : 'unanswered';
}

const OUTCOMES: Readonly<Record<string, string>> = {
  target_refused: 'refused',
  target_unavailable: 'unavailable',
  circuit_open: 'circuit_open',
  publish_busy: 'busy',
  too_many_waiting: 'busy',
  publish_overtaken: 'overtaken',
  // By its operator, while the publish waited.
  target_changed: 'overtaken',
  target_disabled: 'overtaken',
  unmapped_codes: 'unmapped',
};

function publishOutcome(failure: unknown): string {
  if (failure === undefined) return 'done';
  return (failure instanceof DomainError ? OUTCOMES[failure.code] : undefined) ?? 'failed';
}
