/**
 * The circuit of one connection as one worker sees it, kept in step with what all workers share.
 * Contract: EXC-21.
 */
import type { Pool } from '../../platform/db/database.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { closeCircuit, delayProbe, openCircuit } from './breaker.store.ts';
import { type CircuitSettings, createFailureCount, type Sign } from './breaker.ts';

export interface CircuitBreaker {
  readonly open: boolean;
  /** Take over what the database says, unless a change of ours is on its way there. */
  learn(open: boolean): void;
  /** Note how a try ended. It is not probed before `restMs`, whatever patient is next. */
  note(sign: Sign, tried: { patientId: string; probe: boolean; restMs: number }): void;
}

export interface CircuitBreakerOptions {
  db: Pool;
  key: ConnectionKey;
  settings: CircuitSettings;
  onChange: (open: boolean) => void;
  onError: (error: unknown) => void;
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { db, key, settings } = options;
  const failures = createFailureCount(settings);
  let open = false;
  let writing = 0;

  function change(to: boolean): void {
    if (to === open) return;
    open = to;
    failures.reset();
    options.onChange(to);
  }

  function write(statement: Promise<unknown>): void {
    writing += 1;
    void statement.catch(options.onError).finally(() => {
      writing -= 1;
    });
  }

  return {
    get open() {
      return open;
    },
    learn(to) {
      if (writing === 0) change(to);
    },
    note(sign, { patientId, probe, restMs }) {
      const tooMany = failures.note(sign, patientId);
      if (open && sign === 'up') {
        change(false);
        write(closeCircuit(db, key));
      } else if (open && probe)
        write(delayProbe(db, key, { afterMs: settings.probeMs, maxMs: settings.maxProbeMs, restMs }));
      else if (!open && tooMany) {
        change(true);
        write(openCircuit(db, key, Math.max(settings.probeMs, restMs)));
      }
    },
  };
}
