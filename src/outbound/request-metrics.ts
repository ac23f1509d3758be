/** Metrics of requests to servers of others. */
import { Histogram, type Registry } from 'prom-client';

/** Seconds, up to the time-out of a request. The one of that name in the registry, made when it is not there. */
export function durationsOf<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: { name: string; help: string; labelNames: Label[] },
): Histogram<Label> {
  const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
  const made = registry.getSingleMetric(name) as Histogram<Label> | undefined;
  return made ?? new Histogram({ name, help, labelNames, buckets, registers: [registry] });
}
