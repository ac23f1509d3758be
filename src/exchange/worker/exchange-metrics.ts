/**
 * What Prometheus sees of the exchange. Each function may be called again for one registry.
 * Contract: EXC-52.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';
import { durationsOf, metricOf } from '../../outbound/request-metrics.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { countedStates, countQueues } from '../queue/queue-count.store.ts';
import type { QueueState } from '../queue/queue-state.store.ts';

/** Callbacks by the status they were answered with; 401 are the refused ones. */
export function callbackAnswers(registry: Registry): Counter<'status'> {
  const name = 'interchange_exchange_callbacks_total';
  const help =
    'Callbacks of exchanges, by HTTP status of the answer: 401 is refused, 409 is kept for review.';
  return metricOf(
    registry,
    name,
    () => new Counter({ name, help, labelNames: ['status'], registers: [registry] }),
  );
}

/** Seconds of tries by connection and outcome. */
export function attemptSeconds(registry: Registry): Histogram<'connection' | 'outcome'> {
  return durationsOf(registry, {
    name: 'interchange_exchange_attempt_duration_seconds',
    help: 'Duration of delivery attempts, by connection and outcome.',
    labelNames: ['connection', 'outcome'],
  });
}

const GAUGES: { name: string; help: string; read: (state: QueueState) => number }[] = [
  { name: 'interchange_exchange_queued', help: 'Deliveries that wait.', read: (state) => state.queued },
  { name: 'interchange_exchange_held', help: 'Deliveries held for review.', read: (state) => state.held },
  {
    name: 'interchange_exchange_oldest_waiting_seconds',
    help: 'Age of the oldest delivery that is next to be sent for its patient and is not held.',
    read: (state) => state.oldestSeconds,
  },
  {
    name: 'interchange_exchange_circuit_open',
    help: '1 while the service considers the exchange down, else 0.',
    read: (state) => Number(state.breakerOpen),
  },
];
/** The gauges of one scrape ask the database together. */
const ASK_EVERY_MS = 1_000;
/** A scrape waits so long for a new count, and shows the last one after that. */
const WAIT_FOR_COUNT_MS = 2_000;

/**
 * Gauges of the queue, by connection. They say the same on every process: what was counted last, by any of them. A
 * scrape that finds the count old has it made again, and waits for it unless it takes long.
 */
export function registerQueueGauges(registry: Registry, db: Queryable): void {
  const states = createStateReader(db);
  for (const { name, help, read } of GAUGES)
    metricOf(
      registry,
      name,
      () =>
        new Gauge({
          name,
          help,
          labelNames: ['connection'],
          registers: [registry],
          // Processes of one machine say the same.
          aggregator: 'max',
          async collect() {
            const found = await states();
            this.reset();
            for (const state of found) this.set({ connection: state.connectionId }, read(state));
          },
        }),
    );
}

interface StateReader {
  asked: Promise<QueueState[]> | undefined;
  askedMs: number;
  counting: Promise<void> | undefined;
}

/** Reads the states for the gauges of one scrape together. */
function createStateReader(db: Queryable): () => Promise<QueueState[]> {
  const reader: StateReader = { asked: undefined, askedMs: 0, counting: undefined };
  return () => {
    if (reader.asked === undefined || performance.now() - reader.askedMs > ASK_EVERY_MS) {
      reader.askedMs = performance.now();
      reader.asked = readStates(db, reader).catch((): QueueState[] => []);
    }
    return reader.asked;
  };
}

async function readStates(db: Queryable, reader: StateReader): Promise<QueueState[]> {
  const found = await countedStates(db);
  if (!found.uncounted && !found.states.some(({ due }) => due)) return found.states;
  reader.counting ??= countQueues(db)
    .catch(() => undefined)
    .finally(() => {
      reader.counting = undefined;
    });
  await Promise.race([reader.counting, sleep(WAIT_FOR_COUNT_MS, undefined, { ref: false })]);
  return (await countedStates(db)).states;
}
