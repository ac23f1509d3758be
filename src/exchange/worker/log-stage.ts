/** The second stage of delivery: writes the access of what was leased, before it is sent. Contract: EXC-26. */
import type { LoadedConnection } from './loaded-connection.ts';
import { giveBack, type Runner, releaseTries, type SingleTask, settleUnsent, singleTask } from './runner.ts';
import { deliveryAccess, type Try } from './try-delivery.ts';

/** How many times the requests in flight may be logged before they are sent, so that senders do not wait for the log. */
const LOGGED_AHEAD = 2;

export interface LogStage extends Pick<SingleTask, 'ended'> {
  /** Log what is leased, if there is room for it. */
  log(): void;
}

export function createLogStage(runner: Runner): LogStage {
  const task = singleTask(
    async () => {
      if (runner.connection !== undefined) await logAccess(runner, takeLeased(runner, runner.connection));
    },
    { onError: runner.report('delivery.access-log'), onEnd: () => runner.advance() },
  );
  return {
    get ended() {
      return task.ended;
    },
    log() {
      const { connection, leased, logged } = runner;
      if (connection === undefined || leased.length === 0) return;
      if (logged.length < LOGGED_AHEAD * connection.maxInFlight) task.run();
    },
  };
}

/** The next tries. What waited too long to be sent under its lease is left to whoever leases it next. */
function takeLeased(runner: Runner, { timeoutMs, maxInFlight }: LoadedConnection): Try[] {
  const { late = [], inTime = [] } = Object.groupBy(runner.leased, ({ leaseEnd }) =>
    leaseEnd.isWithin(timeoutMs) ? 'late' : 'inTime',
  );
  releaseTries(runner, late);
  const most = 2 * LOGGED_AHEAD * maxInFlight;
  runner.leased = inTime.slice(most);
  return inTime.slice(0, most);
}

async function logAccess(runner: Runner, batch: Try[]): Promise<void> {
  const entries = batch.map((item) => deliveryAccess(runner.key, item));
  try {
    await runner.deps.accessLog.record(entries);
  } catch (error) {
    runner.leased.unshift(...batch);
    giveBack(runner);
    throw error;
  }
  batch.forEach((item, index) => {
    if (entries[index]?.outcome === 'allowed') runner.logged.push(item);
    else settleUnsent(runner, item, 'withheld');
  });
  if (runner.stopping || (runner.breaker.open && batch.some((item) => !item.probe))) giveBack(runner);
}
