/**
 * The breaker of one connection: stops tries while its exchange is down (docs/adr/0022). Each worker counts failures for
 * itself. All workers share the state of the breaker: it is in the database.
 * Contract: EXC-20, EXC-21.
 */
import { createFailureCount, type ServerHealth } from '../../outbound/failure-count.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { closeBreaker, delayProbe, openBreaker } from './breaker.store.ts';

export interface DeliveryBreakerSettings {
  /** How many failures in a row open the breaker (see {@link createFailureCount}). */
  failures: number;
  /** Until the first probe, in ms; doubled after each that fails. */
  probeMs: number;
  maxProbeMs: number;
}

export interface DeliveryBreaker {
  readonly open: boolean;
  /** Take the state from the database, unless a change of ours is being written. */
  learn(open: boolean): void;
  /** Note how a try ended. The next probe comes after `restMs` at the earliest. */
  note(health: ServerHealth, tried: { patientId: string; probe: boolean; restMs: number }): void;
}

export interface DeliveryBreakerOptions {
  db: Queryable;
  key: ConnectionKey;
  settings: DeliveryBreakerSettings;
  onChange: (open: boolean) => void;
  onError: (error: unknown) => void;
}

export function createDeliveryBreaker(options: DeliveryBreakerOptions): DeliveryBreaker {
  const { db, key, settings } = options;
  const failures = createFailureCount(settings);
  const state = { open: false, writing: 0 };

  function change(to: boolean): void {
    if (to === state.open) return;
    state.open = to;
    failures.reset();
    options.onChange(to);
  }

  function write(statement: Promise<unknown>): void {
    state.writing += 1;
    void statement.catch(options.onError).finally(() => {
      state.writing -= 1;
    });
  }

  return {
    get open() {
      return state.open;
    },
    learn(to) {
      if (state.writing === 0) change(to);
    },
    note(health, { patientId, probe, restMs }) {
      const tooMany = failures.note(health, patientId);
      if (state.open && health === 'up') {
        change(false);
        write(closeBreaker(db, key));
      } else if (state.open && probe)
        write(delayProbe(db, key, { afterMs: settings.probeMs, maxMs: settings.maxProbeMs, restMs }));
      else if (!state.open && tooMany) {
        change(true);
        write(openBreaker(db, key, Math.max(settings.probeMs, restMs)));
      }
    },
  };
}
