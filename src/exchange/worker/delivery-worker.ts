/**
 * Delivers what is due, organisation by organisation and connection by connection. Any number of workers may run
 * against one database.
 * Contract: EXC-23, EXC-50, EXC-55.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorFields } from '../../platform/log/log.ts';
import { createTurns } from '../../tenancy/organisations/organisation-turns.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import {
  createOrganisationDeliveries,
  ERROR_WAIT_MS,
  type OrganisationDeliveries,
} from './organisation-deliveries.ts';
import type { WorkerDependencies } from './runner.ts';

export interface DeliveryWorker {
  start(): void;
  /** Finishes what is in flight, writes it down, and gives back the leases of the rest. */
  stop(): Promise<void>;
}

/** Looks under way at once, without slow ones and those of organisations that the work fails for. */
const LOOKS_AT_ONCE = 3;
/** While nothing is due, each organisation is looked at this much later for each organisation that there is. */
const IDLE_LOOK_MS = 20;

export function createDeliveryWorker(deps: WorkerDependencies): DeliveryWorker {
  const organisations = new Map<string, OrganisationDeliveries>();
  const turns = createTurns({ work: deps.work, atOnce: LOOKS_AT_ONCE, onFree: lookAtDue });
  const stopped = new AbortController();
  const { pollMs } = deps.settings;
  let called = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;
  let stopListening = (): void => undefined;

  async function run(): Promise<void> {
    let failed = false;
    while (!stopped.signal.aborted) {
      try {
        await readDirectory();
        failed = false;
        lookAtDue();
      } catch (error) {
        if (!failed)
          deps.log.warn(
            { event: 'delivery.poll', ...errorFields(error) },
            'the worker could not look for deliveries; trying again',
          );
        failed = true;
      }
      const wait = sleep(failed ? ERROR_WAIT_MS : pollMs, undefined, { signal: stopped.signal });
      await Promise.race([wait.catch(() => undefined), called.promise]);
    }
  }

  /** Organisations with connections; none ever leaves the directory. */
  async function readDirectory(): Promise<void> {
    for (const organisationId of await organisationsWithConnections(deps.db))
      if (!organisations.has(organisationId))
        organisations.set(organisationId, createOrganisationDeliveries(deps, organisationId));
  }

  /** Those whose time has come, each in its turn. */
  function lookAtDue(): void {
    if (stopped.signal.aborted) return;
    const idleMs = Math.max(pollMs, organisations.size * IDLE_LOOK_MS);
    for (const [organisationId, organisation] of [...organisations]) {
      if (organisation.looking || organisation.nextMs > performance.now()) continue;
      if (!turns.isFree(organisationId)) continue;
      // To the end, so that every other one that is due comes first the next time.
      organisations.delete(organisationId);
      organisations.set(organisationId, organisation);
      void turns.take(organisationId, () => organisation.look(idleMs));
    }
  }

  function onCall(organisationId: string | undefined): void {
    const organisation = organisations.get(organisationId ?? '');
    if (organisationId === undefined) {
      for (const every of organisations.values()) every.call();
      lookAtDue();
    } else if (organisation === undefined) {
      // Its first connection: the directory knows it.
      called.resolve();
      called = Promise.withResolvers();
    } else {
      organisation.call();
      lookAtDue();
    }
  }

  return {
    start() {
      if (running !== undefined) return;
      stopListening = deps.listen?.(onCall) ?? stopListening;
      running = run();
    },
    async stop() {
      stopped.abort();
      stopListening();
      await running;
      // A look under way may hang. What it finds is not used any more.
      await Promise.all(Array.from(organisations.values(), (organisation) => organisation.stop()));
    },
  };
}
