/**
 * Sends resources level by level: those of one level at once, each recorded soon after it is stored.
 * Contract: PUB-22.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { PublishLease } from '../runs/lease.ts';
import { createRecordQueue } from '../send/record-queue.ts';
import { noteCreates, recordStored, type StoredResource } from '../send/resource.store.ts';
import { createRetryBudget } from '../send/retry.ts';
import { type StoreDependencies, type Storing, storeResource } from '../send/store-resource.ts';
import { keyOf, type ResourceKey } from './content.fhir.ts';
import { isShared } from './resource-types.ts';

export interface SendOptions extends StoreDependencies {
  lease: PublishLease;
}

export interface Sent {
  /** What is stored, by key, also by the earlier try that this publish continues. */
  done: Map<ResourceKey, StoredResource>;
  /** Stored by this try. */
  fresh: number;
  /** Why it stopped; undefined when everything is stored. */
  failure: unknown;
  /** Stored, and not on record yet. */
  unrecorded: StoredResource[];
}

/** Never throws: what went wrong is in the answer. */
export async function sendLevels(options: SendOptions): Promise<Sent> {
  const { db, scope, server, rendering, lease, settings } = options;
  const fhirServerId = server.id;
  const sent: Sent = { done: new Map(), fresh: 0, failure: undefined, unrecorded: [] };
  const queue = createRecordQueue((stored) => recordStored(db, scope, { fhirServerId, stored }));
  const storing: Storing = {
    ...options,
    queue,
    retryBudget: createRetryBudget(settings.retry, settings.clock),
    requireMaySend() {
      if (sent.failure !== undefined) throw new Stopped();
      lease.requireHeld();
    },
    noteFresh() {
      sent.fresh += 1;
    },
  };

  async function one(resource: FhirResource): Promise<void> {
    try {
      const stored = await storeResource(storing, resource);
      rendering.known.set(stored.key, stored.serverId);
      sent.done.set(stored.key, stored);
    } catch (error) {
      if (!(error instanceof Stopped)) sent.failure ??= error;
    }
  }

  try {
    for (const resources of rendering.levels) {
      if (sent.failure !== undefined) break;
      const keys = resources.filter((resource) => isCreate(options, resource)).map(keyOf);
      if (keys.length > 0) await noteCreates(db, scope, { fhirServerId, keys });
      await Promise.all(resources.map(one));
    }
  } catch (error) {
    sent.failure ??= error;
  } finally {
    // Also after a failure: nothing may be written to the record once the lease is given back.
    sent.unrecorded = await queue.takeWaiting();
  }
  return sent;
}

/** The server assigns the id. Creates of shared records are noted later, under their own lease. */
function isCreate({ server, recorded }: SendOptions, resource: FhirResource): boolean {
  const isNew = server.idPolicy === 'server' && !recorded.has(keyOf(resource));
  return isNew && !isShared(resource.resourceType);
}

/** Another resource has failed, so no further request begins. */
class Stopped extends Error {
  override name = 'Stopped';
}
