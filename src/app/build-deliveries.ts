/** The delivery worker of a process, on connections of its own. */
import { createDeliveryPool } from '../exchange/worker/delivery-pool.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../exchange/worker/delivery-worker.ts';
import { attemptSeconds } from '../exchange/worker/exchange-metrics.ts';
import { SERVICE_ROLE } from '../platform/db/migrate.ts';
import { errorFields } from '../platform/log/log.ts';
import type { Runtime } from './build-runtime.ts';

const CONNECTIONS = 6;

export function buildDeliveries(runtime: Runtime): DeliveryWorker {
  const { url, log, metrics, config } = runtime;
  const db = createDeliveryPool(
    {
      url,
      role: SERVICE_ROLE,
      max: CONNECTIONS,
      limits: config.timeLimits.background,
      onFailure: (error) => runtime.writes.note(error),
    },
    (error) => log.warn(errorFields(error), 'database connection lost'),
  );
  const seconds = attemptSeconds(metrics.registry);
  const worker = createDeliveryWorker({
    ...runtime,
    db,
    settings: config.delivery,
    onAttempt: ({ connectionId }, { outcome, durationMs }) =>
      seconds.observe({ connection: connectionId, outcome }, durationMs / 1_000),
  });
  return {
    start: worker.start,
    async stop() {
      await worker.stop();
      await db.end();
    },
  };
}
