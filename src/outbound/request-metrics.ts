/** Metrics of requests to servers of others. */
import { Histogram, type Metric, type Registry } from 'prom-client';

/** The metric of that name in the registry, made when it is not there. */
export function metricOf<M extends Metric>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}

/** Seconds, up to the time-out of a request. */
export function durationsOf<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: { name: string; help: string; labelNames: Label[] },
): Histogram<Label> {
  const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
  const make = () => new Histogram({ name, help, labelNames, buckets, registers: [registry] });
  return metricOf(registry, name, make);
}
