/**
 * The metrics of several processes of one machine as one page: counts are added up; what is the same in each (the
 * state of the queue) is said once.
 */
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricsSource } from '../http/metrics-listener.ts';

/** In each process: answer the one that started it. */
export function answerForMetrics(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}

/** In the process that started the others. Its text is a failure when one of them does not answer. */
export function metricsOfAll(): MetricsSource {
  const all = new AggregatorRegistry();
  return { contentType: all.contentType, metrics: () => all.clusterMetrics() };
}
