/** What Prometheus sees of the exchange. Contract: EXC-52. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';
import { durationsOf } from '../../outbound/request-metrics.ts';
import { answeredWithin, type Queryable } from '../../platform/db/database.ts';
import { forEachOrganisation, type OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import { type QueueState, queueStates } from '../queue/queue-state.store.ts';

/** Callbacks by the status they were answered with; 401 are the refused ones. */
export function callbackAnswers(registry: Registry): Counter<'status'> {
  return new Counter({
    name: 'interchange_exchange_callbacks_total',
    help: 'Callbacks of exchanges, by HTTP status of the answer: 401 is refused, 409 is kept for review.',
    labelNames: ['status'],
    registers: [registry],
  });
}

/** Seconds of tries by connection and outcome. May be called again for one registry. */
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
/** A count is good for so long at least … */
const GOOD_FOR_MS = 10_000;
/** … and for so many times what it took: each process keeps one connection busy for a thirtieth of the time at most. */
const GOOD_FOR_TIMES = 30;
/** A count of one organisation that takes longer fails. A million deliveries take 3 s (docs/adr/0126). */
const COUNT_LIMIT_MS = 10_000;
/** A scrape waits so long for a new count, and shows the last one after that. */
const WAIT_FOR_COUNT_MS = 2_000;

/**
 * Gauges of the queue, by connection, as this process counted it last. A scrape that finds the count old counts again
 * (docs/adr/0126).
 */
export function registerQueueGauges(
  registry: Registry,
  counting: Counting,
  nowMs: () => number = () => performance.now(),
): void {
  const states = createStateReader(counting, nowMs);
  for (const { name, help, read } of GAUGES)
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
    });
}

/** Where it counts; an organisation that cannot be counted has no gauges, and is noted. */
interface Counting {
  db: Queryable;
  work: OrganisationWork;
}

interface StateReader {
  /** By organisation; a count that ends is shown at once, whatever others do. */
  found: Map<string, QueueState[]>;
  goodUntilMs: number;
  counting: Promise<void> | undefined;
}

/** Counts for the gauges of one scrape together. */
function createStateReader(counting: Counting, nowMs: () => number): () => Promise<QueueState[]> {
  const reader: StateReader = {
    found: new Map(),
    goodUntilMs: Number.NEGATIVE_INFINITY,
    counting: undefined,
  };
  return async () => {
    if (nowMs() <= reader.goodUntilMs) return [...reader.found.values()].flat();
    reader.counting ??= count(counting, reader, nowMs);
    await Promise.race([reader.counting, sleep(WAIT_FOR_COUNT_MS, undefined, { ref: false })]);
    return [...reader.found.values()].flat();
  };
}

async function count({ db, work }: Counting, reader: StateReader, nowMs: () => number): Promise<void> {
  const startedMs = nowMs();
  try {
    const limited = answeredWithin(db, COUNT_LIMIT_MS);
    const organisationIds = await organisationsWithConnections(db);
    await forEachOrganisation(work, organisationIds, async (organisationId) => {
      reader.found.set(organisationId, await queueStates(limited, { organisationId }));
    });
    for (const organisationId of organisationIds)
      if (work.isFailing(organisationId)) reader.found.delete(organisationId);
    const endedMs = nowMs();
    reader.goodUntilMs = endedMs + Math.max(GOOD_FOR_MS, GOOD_FOR_TIMES * (endedMs - startedMs));
  } catch {
    reader.found.clear();
  } finally {
    reader.counting = undefined;
  }
}
