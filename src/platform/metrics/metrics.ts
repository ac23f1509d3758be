/** Prometheus metrics of a process. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  /** Seconds by method, route and status. */
  httpRequestSeconds: Histogram<'method' | 'route' | 'status'>;
  accessLogEntries: Counter;
  accessLogGroups: Counter;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    httpRequestSeconds: new Histogram({
      name: 'interchange_http_request_duration_seconds',
      help: 'Time to answer, by method, route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    accessLogEntries: new Counter({
      name: 'interchange_access_log_entries_total',
      help: 'Entries written to the access log.',
      registers: [registry],
    }),
    accessLogGroups: new Counter({
      name: 'interchange_access_log_groups_total',
      help: 'Statements that wrote entries of the access log. One statement writes many entries.',
      registers: [registry],
    }),
  };
}
