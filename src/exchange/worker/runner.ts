/**
 * What a worker holds of one connection, and how deliveries that were leased leave again without being sent.
 *
 * A leased delivery passes through three places. `leased`: nothing is done yet, and it may be given back. `logged`: the
 * access is in the access log, so the ledger must say what happened. In flight. Each stage takes from the place before
 * its own: lease-stage.ts, send-stage.ts.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log/log.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import type { OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
import { probeNow } from '../queue/connection-state.store.ts';
import { type ConnectionKey, release } from '../queue/lane.store.ts';
import type { DeliveryResult } from '../queue/settle.store.ts';
import type { SettleQueue } from '../queue/settle-queue.ts';
import type { DeliveryBreaker } from './breaker.ts';
import type { DeliverySettings } from './delivery-settings.ts';
import type { LoadedConnection } from './loaded-connection.ts';
import type { OrganisationDatabase } from './organisation-database.ts';
import { notSent, type Try } from './try-delivery.ts';

/** What a worker stands on. */
export interface WorkerDependencies extends Omit<RunnerDependencies, 'db' | 'isResting'> {
  db: Queryable;
  /** Connections of their own for organisations that the work fails for, so that the others never wait for these. */
  aside?: Queryable;
  /** Knows the organisations that delivering fails for. */
  work: OrganisationWork;
  /**
   * Calls back with an organisation whose deliveries changed; with none when calls may have been lost. Returns how to end
   * that.
   */
  listen?: (onCall: (organisationId: string | undefined) => void) => () => void;
}

export interface RunnerDependencies {
  /** Of one organisation. */
  db: OrganisationDatabase;
  /** The work rests after a failure: nothing more is leased. */
  isResting: () => boolean;
  accessLog: AccessLog;
  keys: KeyRing;
  log: Log;
  now: () => Date;
  settings: DeliverySettings;
  /** Told of every try, and of the facility that it is of. */
  onAttempt: (
    key: ConnectionKey,
    attempt: NonNullable<DeliveryResult['attempt']>,
    facilityId: string,
  ) => void;
}

export interface Runner {
  readonly deps: RunnerDependencies;
  readonly key: ConnectionKey;
  readonly breaker: DeliveryBreaker;
  /** Results that are not written yet. */
  readonly results: SettleQueue;
  /** As it was loaded last. Undefined before that, and after a change until it is loaded again. */
  connection: LoadedConnection | undefined;
  leased: Try[];
  logged: Try[];
  inFlight: number;
  stopping: boolean;
  /** Fill every place from the one before it. */
  advance: () => void;
  /** Writes a line about a step that failed; the step is tried again by itself. */
  report: (event: string) => (error: unknown) => void;
}

/** Give back everything that is not in flight. */
export function giveBack(runner: Runner): void {
  const { leased, logged } = runner;
  runner.leased = [];
  runner.logged = [];
  releaseTries(runner, leased);
  for (const item of logged) settleUnsent(runner, item, 'unsent');
}

/** End the leases of tries with which nothing was done. */
export function releaseTries({ deps, key, report }: Runner, tries: readonly Try[]): void {
  for (const [token, of] of Map.groupBy(tries, (item) => item.leaseToken))
    release(deps.db, key, { token, patientIds: of.map(({ patientId }) => patientId) }).catch(
      report('delivery.release'),
    );
}

/** Write down that a try was logged as an access and then not sent. */
export function settleUnsent(runner: Runner, item: Try, why: 'withheld' | 'unsent'): void {
  const { deps, key, results, report } = runner;
  const result = notSent(item, why, deps.now());
  results.add(result, item.leaseEnd.ms);
  // For what is withheld, the next probe was looked for when it was leased.
  if (item.probe && why === 'unsent') probeNow(deps.db, key).catch(report('delivery.circuit'));
  if (result.attempt !== null) deps.onAttempt(key, result.attempt, item.facilityId);
}

/** Work of which only one run is under way at a time. */
export interface SingleTask {
  /** Resolves when the run that is under way ends; at once when none is. */
  readonly ended: Promise<void>;
  readonly running: boolean;
  /** Begin, unless a run is under way. */
  run(): void;
}

export function singleTask(
  work: () => Promise<void>,
  { onError, onEnd = () => undefined }: { onError: (error: unknown) => void; onEnd?: () => void },
): SingleTask {
  let underWay: Promise<void> | undefined;
  return {
    get ended() {
      return underWay ?? Promise.resolve();
    },
    get running() {
      return underWay !== undefined;
    },
    run() {
      underWay ??= work()
        .catch(onError)
        .finally(() => {
          underWay = undefined;
          onEnd();
        });
    },
  };
}
