/** Delivers for one organisation: looks which of its connections have something due, and wakes their runners. */
import { answeredWithin } from '../../platform/db/database.ts';
import { errorFields } from '../../platform/log/log.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';
import { type ConnectionState, connectionStates } from '../queue/connection-state.store.ts';
import { type ConnectionRunner, createConnectionRunner } from './connection-runner.ts';
import { createOrganisationDatabase } from './organisation-database.ts';
import type { RunnerDependencies, WorkerDependencies } from './runner.ts';

export interface OrganisationDeliveries {
  /** When to look next, on the clock of `performance.now()`. */
  readonly nextMs: number;
  readonly looking: boolean;
  /** Look, and again after `idleMs` at the latest. Never rejects. */
  look(idleMs: number): Promise<void>;
  /** Something was queued or changed: look soon, unless the work rests after a failure. */
  call(): void;
  /** Finish what is in flight, and give back the rest. */
  stop(): Promise<void>;
}

/** A look that takes longer fails: others wait for its turn. */
const LOOK_LIMIT_MS = 3_000;
/** After an error that says nothing of the organisation. */
export const ERROR_WAIT_MS = 1_000;

export function createOrganisationDeliveries(
  worker: WorkerDependencies,
  organisationId: string,
): OrganisationDeliveries {
  const { work, settings, log } = worker;
  const db = createOrganisationDatabase(worker, work, organisationId);
  const deps: RunnerDependencies = {
    ...worker,
    db,
    isResting: () => work.restMs(organisationId) > 0,
  };
  const runners = new Map<string, ConnectionRunner>();
  const leaving = new Set<Promise<void>>();
  const state = {
    nextMs: 0,
    lookedMs: Number.NEGATIVE_INFINITY,
    looking: false,
    called: false,
    stopping: false,
  };

  /** A connection that was disabled: its requests in flight are finished. */
  function leave(runner: ConnectionRunner): void {
    const left = runner.stop().finally(() => leaving.delete(left));
    leaving.add(left);
  }

  function wake(states: readonly ConnectionState[]): void {
    const enabled = new Set(states.map(({ connectionId }) => connectionId));
    for (const [connectionId, runner] of runners) {
      if (enabled.has(connectionId)) continue;
      runners.delete(connectionId);
      leave(runner);
    }
    for (const one of states) {
      const { connectionId } = one;
      const runner =
        runners.get(connectionId) ?? createConnectionRunner(deps, { organisationId, connectionId });
      runners.set(connectionId, runner);
      runner.wake(one);
    }
  }

  /** Until the next look: short while there is work, else until something becomes due. */
  function waitMs(states: readonly ConnectionState[], idleMs: number): number {
    const busy = [...runners.values()].some((runner) => runner.busy);
    if (busy || state.called || states.some(({ due, reopened }) => due || reopened)) return settings.pollMs;
    return Math.min(
      idleMs,
      ...states.flatMap(({ dueInMs }) => (dueInMs === null ? [] : Math.max(0, dueInMs))),
    );
  }

  return {
    get nextMs() {
      return state.nextMs;
    },
    get looking() {
      return state.looking;
    },
    async look(idleMs) {
      state.looking = true;
      state.called = false;
      const beganMs = performance.now();
      state.lookedMs = beganMs;
      try {
        const states = await connectionStates(answeredWithin(db, LOOK_LIMIT_MS), { organisationId });
        if (state.stopping) return;
        db.noteLook(beganMs);
        if (!deps.isResting()) wake(states);
        state.nextMs = performance.now() + Math.max(work.restMs(organisationId), waitMs(states, idleMs));
      } catch (error) {
        if (state.stopping) return;
        // The worker says once for all when the database is out of reach.
        if (!db.noteFailure(error) && !isWholeDatabase(error))
          log.warn(
            { event: 'delivery.poll', organisationId, ...errorFields(error) },
            'the worker could not look for deliveries of an organisation; trying again',
          );
        state.nextMs = performance.now() + Math.max(work.restMs(organisationId), ERROR_WAIT_MS);
      } finally {
        state.looking = false;
      }
    },
    call() {
      state.called = true;
      const waitMs = Math.max(
        work.restMs(organisationId),
        state.lookedMs + settings.pollMs - performance.now(),
      );
      state.nextMs = Math.min(state.nextMs, performance.now() + waitMs);
    },
    async stop() {
      state.stopping = true;
      await Promise.all([...leaving, ...Array.from(runners.values(), (runner) => runner.stop())]);
    },
  };
}
