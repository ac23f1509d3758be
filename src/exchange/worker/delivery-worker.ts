/**
 * Delivers what is due, for every connection. Any number of workers may run against one database.
 * Contract: EXC-23, EXC-50.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorFields } from '../../platform/log/log.ts';
import { type ConnectionState, connectionStates } from '../queue/connection-state.store.ts';
import { type ConnectionRunner, createConnectionRunner } from './connection-runner.ts';
import type { RunnerDependencies } from './runner.ts';

export interface DeliveryWorker {
  start(): void;
  /** Finishes what is in flight, writes it down, and gives back the leases of the rest. */
  stop(): Promise<void>;
}

const ERROR_WAIT_MS = 1_000;

export function createDeliveryWorker(deps: RunnerDependencies): DeliveryWorker {
  const runners = new Map<string, ConnectionRunner>();
  const stopped = new AbortController();
  const leaving = new Set<Promise<void>>();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      let waitMs = deps.settings.pollMs;
      try {
        await look(await connectionStates(deps.db));
      } catch (error) {
        deps.log.warn(
          { event: 'delivery.poll', ...errorFields(error) },
          'the worker could not look for deliveries; trying again',
        );
        waitMs = ERROR_WAIT_MS;
      }
      await sleep(waitMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  /** A connection that was disabled: its requests in flight are finished. */
  function leave(runner: ConnectionRunner): void {
    const left = runner.stop().finally(() => leaving.delete(left));
    leaving.add(left);
  }

  async function look(states: readonly ConnectionState[]): Promise<void> {
    if (stopped.signal.aborted) return;
    const enabled = new Set(states.map(({ connectionId }) => connectionId));
    for (const [connectionId, runner] of runners) {
      if (enabled.has(connectionId)) continue;
      runners.delete(connectionId);
      leave(runner);
    }
    for (const state of states) {
      const { organisationId, connectionId } = state;
      const runner =
        runners.get(connectionId) ?? createConnectionRunner(deps, { organisationId, connectionId });
      runners.set(connectionId, runner);
      runner.wake(state);
    }
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopped.abort();
      await running;
      await Promise.all([...leaving, ...Array.from(runners.values(), (runner) => runner.stop())]);
    },
  };
}
