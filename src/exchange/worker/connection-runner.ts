/**
 * Delivers for one connection: leases due lanes, logs the access, sends, and writes down how it went.
 * Contract: EXC-23, EXC-26, EXC-27.
 */
import { errorFields } from '../../platform/log/log.ts';
import type { ConnectionState } from '../queue/connection-state.store.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { unpark } from '../queue/parking.store.ts';
import { settle } from '../queue/settle.store.ts';
import { createSettleQueue, type SettleQueue } from '../queue/settle-queue.ts';
import { createDeliveryBreaker } from './breaker.ts';
import { createLeaseStage } from './lease-stage.ts';
import { type LoadedConnection, loadConnection } from './loaded-connection.ts';
import { giveBack, type Runner, type RunnerDependencies, singleTask } from './runner.ts';
import { createLogStage, sendLogged } from './send-stage.ts';

export interface ConnectionRunner {
  /** Look again: what the database says of the connection now. */
  wake(state: ConnectionState): void;
  /** Something is leased, in flight, or not written down yet. */
  readonly busy: boolean;
  /** Finish what is in flight and give back the rest. */
  stop(): Promise<void>;
}

/** How long a process that stops waits for a database that does not answer. */
const STOP_LIMIT_MS = 10_000;
/** How many parked lanes one statement makes due. The next look takes the next ones. */
const UNPARKED_AT_ONCE = 2_000;
/** A connection that could not be loaded is looked at again after this. */
const LOAD_AGAIN_MS = 2_000;

export function createConnectionRunner(deps: RunnerDependencies, key: ConnectionKey): ConnectionRunner {
  const report = (event: string) => (error: unknown) => {
    // What fails for the organisation as a whole is told once, not at each step.
    if (!deps.db.noteFailure(error))
      deps.log.warn({ event, ...key, ...errorFields(error) }, 'a step of the delivery failed; trying again');
  };
  const idle = Promise.withResolvers<void>();
  const runner: Runner = {
    deps,
    key,
    report,
    breaker: createDeliveryBreaker({
      db: deps.db,
      key,
      settings: deps.settings.breaker,
      onChange: onBreaker,
      onError: report('delivery.circuit'),
    }),
    results: createResults(deps, key, {
      onMore: () => leaseStage.lease(),
      onError: report('delivery.settle'),
    }),
    connection: undefined,
    leased: [],
    logged: [],
    inFlight: 0,
    stopping: false,
    advance,
  };
  const leaseStage = createLeaseStage(runner);
  const logStage = createLogStage(runner);
  const loader = createLoader(runner, () => {
    advance();
    leaseStage.lease();
  });
  const unparking = singleTask(
    async () => {
      await unpark(deps.db, key, UNPARKED_AT_ONCE);
      leaseStage.lease();
    },
    { onError: report('delivery.unpark') },
  );

  function advance(): void {
    const { connection } = runner;
    if (connection !== undefined && !runner.stopping) {
      sendLogged(runner, connection);
      logStage.log();
      leaseStage.leaseMore();
    }
    if (runner.stopping && runner.inFlight === 0) idle.resolve();
  }

  function onBreaker(open: boolean): void {
    const message = open
      ? 'deliveries to the exchange fail; only single tries are sent until it takes one'
      : 'the exchange takes deliveries again';
    deps.log.warn({ event: 'delivery.circuit', ...key, outcome: open ? 'open' : 'closed' }, message);
    if (open) giveBack(runner);
    else leaseStage.lease();
  }

  return {
    get busy() {
      const { leased, logged, inFlight, results } = runner;
      return leased.length + logged.length + inFlight + results.size > 0;
    },
    wake(state) {
      if (runner.stopping) return;
      runner.breaker.learn(state.breakerOpen);
      if (state.reopened) unparking.run();
      if (loader.isOutdated(state.version)) loader.load(state.version);
      else if (state.due) leaseStage.lease();
    },
    async stop() {
      runner.stopping = true;
      await Promise.all([loader.ended(), leaseStage.ended, logStage.ended, unparking.ended]);
      giveBack(runner);
      advance();
      await idle.promise;
      await runner.results.drain(STOP_LIMIT_MS);
      runner.connection?.sender.close();
    },
  };
}

function createResults(
  { db, log }: RunnerDependencies,
  key: ConnectionKey,
  on: { onMore: () => void; onError: (error: unknown) => void },
): SettleQueue {
  return createSettleQueue({
    ...on,
    write: (batch) => settle(db, key, batch),
    onLost: (count) =>
      log.warn(
        { event: 'delivery.lease-lost', ...key, count },
        'a lease ended before the result of its delivery was stored; the delivery is sent again',
      ),
  });
}

/** Keeps the connection of a runner at the version that the database has. */
function createLoader(runner: Runner, onEnd: () => void) {
  const { deps, key, report } = runner;
  const state = { version: 0, againMs: 0 };
  const task = singleTask(
    async () => {
      const before: LoadedConnection | undefined = runner.connection;
      state.againMs = performance.now() + LOAD_AGAIN_MS;
      runner.connection = undefined;
      before?.sender.close();
      runner.connection = await loadConnection(deps, key, state.version);
      state.againMs = 0;
    },
    { onError: report('delivery.load'), onEnd },
  );
  return {
    isOutdated: (version: number) =>
      runner.connection?.version !== version && performance.now() >= state.againMs,
    load(version: number): void {
      if (!task.running) state.version = version;
      task.run();
    },
    ended: () => task.ended,
  };
}
