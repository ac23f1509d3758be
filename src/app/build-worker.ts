/** What runs in the background of a process: housekeeping, and the deliveries. */
import { createDeliveryPool } from '../exchange/worker/delivery-pool.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../exchange/worker/delivery-worker.ts';
import { attemptSeconds } from '../exchange/worker/exchange-metrics.ts';
import { SERVICE_ROLE } from '../platform/db/migrate.ts';
import { errorFields } from '../platform/log/log.ts';
import { MONTHS_AHEAD, makePartitions } from '../privacy/access-log/access-log-partition.store.ts';
import type { ActivityKind } from '../tenancy/activity/record-activity.ts';
import { isWholeDatabase } from '../tenancy/organisations/organisation-work.ts';
import type { Runtime } from './runtime/build-runtime.ts';
import { FURTHER_CONNECTIONS } from './runtime/further-connections.ts';

const HOUSEKEEPING_MS = 60_000;
/** An organisation that does not answer gives its connections back after this. */
const STATEMENT_LIMIT_MS = 10_000;

export interface Worker {
  start(): void;
  /** Finishes the step and the deliveries under way. */
  stop(): Promise<void>;
}

/** Each step runs on its own; one that fails is logged and tried again the next minute. */
export function buildWorker(runtime: Runtime, steps: readonly HousekeepingStep[]): Worker {
  const deliveries = buildDeliveries(runtime);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  /** The database was out of reach: the steps that are left wait for the next round. */
  let isAway = false;

  async function housekeep(): Promise<void> {
    isAway = false;
    const now = await attempt('clock', () => runtime.clock.compare());
    // What is swept cannot be brought back, so it is not done while the clocks disagree.
    if (now === undefined || runtime.clock.isOff()) return;
    for (const step of [partitions(runtime), ...steps])
      if (!isAway && timer !== undefined) await attempt(step.name, () => step.run(now));
  }

  async function attempt<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      isAway = isWholeDatabase(error);
      runtime.log.warn(
        { event: `housekeeping.${name}`, ...errorFields(error) },
        'a clean-up step failed; it runs again later',
      );
      return undefined;
    }
  }

  function tick(): void {
    running = housekeep().then(() => {
      if (timer !== undefined) timer = setTimeout(tick, HOUSEKEEPING_MS).unref();
    });
  }

  return {
    start() {
      timer = setTimeout(tick, 0).unref();
      deliveries.start();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await Promise.all([running, deliveries.stop()]);
    },
  };
}

/** Something to be done about once a minute, safe to run on several processes at once. */
export interface HousekeepingStep {
  name: string;
  /** `now` is the time of the database. */
  run(now: Date): Promise<unknown>;
}

function partitions({ owner }: Runtime): HousekeepingStep {
  return { name: 'access-log-partitions', run: (now) => makePartitions(owner, now, MONTHS_AHEAD) };
}

/** What a try counts as; one that was not sent counts as nothing. */
const ACTIVITY_OF: Readonly<Record<string, ActivityKind | undefined>> = {
  delivered: 'deliveries',
  failed: 'delivery-failures',
  refused: 'delivery-failures',
};

/** The delivery worker of a process, on connections of its own. */
export function buildDeliveries(runtime: Runtime): DeliveryWorker {
  const { serviceUrl: url, metrics, config } = runtime;
  const { background } = config.timeLimits;
  const statementMs = Math.min(background.statementMs || STATEMENT_LIMIT_MS, STATEMENT_LIMIT_MS);
  const limits = { ...background, statementMs };
  const onFailure = (error: unknown) => runtime.writes.note(error);
  const open = (max: number) =>
    createDeliveryPool({ url, role: SERVICE_ROLE, max, limits, onFailure }, runtime.onLost);
  const db = open(FURTHER_CONNECTIONS.deliveries);
  const aside = open(FURTHER_CONNECTIONS.failingDeliveries);
  const seconds = attemptSeconds(metrics.registry);
  const worker = createDeliveryWorker({
    ...runtime,
    db,
    aside,
    work: runtime.work.of('deliveries'),
    settings: config.delivery,
    onAttempt: ({ organisationId, connectionId }, { outcome, durationMs }, facilityId) => {
      seconds.observe({ connection: connectionId, outcome }, durationMs / 1_000);
      const kind = ACTIVITY_OF[outcome];
      if (kind !== undefined) runtime.activity.note({ organisationId, facilityId }, kind);
    },
  });
  return {
    start: worker.start,
    async stop() {
      await worker.stop();
      await Promise.all([db.end(), aside.end()]);
    },
  };
}
