/**
 * The metrics of several processes of one machine as one page: counts are added up; what is the same in each (the
 * state of the queue) is said once. A counter never falls on the page while the first process lives: what a process that
 * ended had counted stays.
 */
import cluster, { type Worker } from 'node:cluster';
import {
  AggregatorRegistry,
  type MetricObject,
  type PrometheusContentType,
  type Registry,
} from 'prom-client';
import type { MetricsSource } from '../http/metrics-listener.ts';

/** How long a process may take to answer. */
const ANSWER_MS = 5_000;
/** What a process says once it answers. It never hears a question from before: node:cluster takes that. */
const ANSWERING = 'answering for metrics';

/** The metrics of one process, with their values. */
type Report = MetricObject[];

interface Question {
  askedForMetrics: number;
}

interface Answer {
  metricsAnswer: number;
  /** Missing where they could not be read. */
  report?: Report;
}

/** In each process: answer the one that started it. */
export function answerForMetrics(registry: Registry): void {
  process.on('message', ({ askedForMetrics }: Partial<Question>) => {
    if (askedForMetrics === undefined) return;
    const answer = (found?: Report) => process.send?.({ metricsAnswer: askedForMetrics, report: found });
    registry.getMetricsAsJSON().then(answer, () => answer());
  });
  process.send?.(ANSWERING);
}

/**
 * In the process that will start the others. Its text is a failure when one of them does not answer, and when none is
 * there. One that is starting has nothing to tell yet.
 */
export function metricsOfAll(): MetricsSource {
  const all = new AggregatorRegistry<PrometheusContentType>();
  const answering = new WeakSet<Worker>();
  cluster.on('message', (worker, message) => {
    if (message === ANSWERING) answering.add(worker);
  });
  /** What each process said last, by its id. */
  const reports = new Map<number, Report>();
  let ofEnded: Report = [];

  function running(): Worker[] {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    return workers.filter((worker) => answering.has(worker));
  }

  function keepEnded(): void {
    const ids = new Set(running().map(({ id }) => id));
    for (const [id, report] of reports) {
      if (ids.has(id)) continue;
      reports.delete(id);
      ofEnded = added([ofEnded, report.filter(isCount)]).getMetricsAsArray();
    }
  }

  return {
    contentType: all.contentType,
    async metrics() {
      const asked = running();
      const answers = await Promise.all(asked.map(ask));
      if (answers.every((answer) => answer === undefined)) throw new Error('no process is there');
      for (const [index, { id }] of asked.entries()) {
        const answer = answers[index];
        if (answer !== undefined) reports.set(id, answer);
      }
      keepEnded();
      return added([ofEnded, ...reports.values()]).metrics();
    },
  };
}

let questions = 0;

/** Undefined from a process that ends meanwhile: what it said last is all that is known of it. */
async function ask(worker: Worker): Promise<Report | undefined> {
  questions += 1;
  const number = questions;
  const { promise, resolve, reject } = Promise.withResolvers<Report | undefined>();
  const onMessage = ({ metricsAnswer, report }: Partial<Answer>) => {
    if (metricsAnswer !== number) return;
    if (report === undefined) reject(new Error('a process could not read its metrics'));
    else resolve(report);
  };
  const onGone = () => resolve(undefined);
  const timer = setTimeout(() => reject(new Error('a process did not answer')), ANSWER_MS);
  worker.on('message', onMessage);
  worker.once('disconnect', onGone);
  // With a callback: an error that nobody takes would end this process, and all others with it.
  worker.send({ askedForMetrics: number } satisfies Question, (error) => error !== null && onGone());
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off('message', onMessage);
    worker.off('disconnect', onGone);
  }
}

function added(reports: readonly Report[]): Registry<PrometheusContentType> {
  return AggregatorRegistry.aggregate<PrometheusContentType>([...reports]);
}

/** Gauges say how it is now: those of a process that ended say nothing. The type is a word, whatever prom-client declares. */
function isCount({ type }: MetricObject): boolean {
  return ['counter', 'histogram'].includes(String(type));
}
