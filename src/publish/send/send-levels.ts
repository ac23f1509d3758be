/**
 * Sends resources level by level: those of one level at once, each recorded soon after it is stored.
 * Contract: PUB-22.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { keyOf, type ResourceKey, splitKey } from '../plan/content.fhir.ts';
import { SENT_AHEAD } from '../plan/resource-types.ts';
import type { PublishLease } from '../runs/lease.ts';
import { noteCreates, recordStored, type StoredResource } from './resource.store.ts';
import { createRetryBudget } from './retry.ts';
import { requireOwn, type StoreDependencies, type Storing, storeResource } from './store-resource.ts';
import { WriteFailure } from './write-failure.ts';

export interface SendOptions extends StoreDependencies {
  lease: PublishLease;
}

export interface Sent {
  /** What is stored, by key, also by the earlier try that this publish continues. */
  done: Map<ResourceKey, StoredResource>;
  /** Stored by this try. */
  fresh: number;
  /** Why it stopped; undefined when everything is stored and recorded. */
  failure: unknown;
}

/** Never throws: what went wrong is in the answer. */
export async function sendLevels(options: SendOptions): Promise<Sent> {
  const { db, scope, server, rendering, lease, settings } = options;
  const sent: Sent = { done: new Map(), fresh: 0, failure: undefined };
  const recording = createRecording(
    (stored) => recordStored(db, scope, { server, stored }),
    settings.clock.nowMs,
  );
  const stop = new AbortController();
  const storing: Storing = {
    ...options,
    stopped: stop.signal,
    retryBudget: createRetryBudget(settings.retry, settings.clock),
    requireMaySend() {
      if (sent.failure !== undefined) throw new Stopped();
      lease.requireHeld();
    },
  };

  const holders = new Map<string, ResourceKey>();

  /** Two records under one id at the server: the second has replaced the first. */
  function requireOwnPlace({ key, serverId }: StoredResource): void {
    const { type } = splitKey(key);
    const place = `${type}/${serverId}`;
    const holder = holders.get(place) ?? key;
    holders.set(place, holder);
    if (holder === key) return;
    const { id } = splitKey(holder);
    const words = {
      en: `the target gave it the id of the ${type} ${id}; ask its operator`,
      fr: `la cible lui a donné l’identifiant de la ressource ${type} ${id} ; adressez-vous à son opérateur`,
    };
    throw new WriteFailure(words, key, undefined);
  }

  async function one(resource: FhirResource): Promise<void> {
    try {
      const { stored, how } = await storeResource(storing, resource);
      requireOwnPlace(stored);
      rendering.known.set(stored.key, stored.serverId);
      sent.done.set(stored.key, stored);
      if (how !== 'kept') sent.fresh += 1;
      if (how === 'written') await recording.note(stored);
    } catch (error) {
      if (error instanceof Stopped) return;
      sent.failure ??= error;
      stop.abort();
    }
  }

  try {
    for (const resources of rendering.levels) {
      if (sent.failure !== undefined) break;
      if (resources !== rendering.levels[0]) await requireOwn(options, resources);
      const keys = resources.filter((resource) => isCreate(options, resource)).map(keyOf);
      if (keys.length > 0) await noteCreates(db, scope, { server, keys });
      await Promise.all(resources.map(one));
    }
  } catch (error) {
    sent.failure ??= error;
  }
  // Also after a failure: nothing may be written to the record once the lease is given back.
  await recording.writeRest().catch((error: unknown) => {
    sent.failure ??= error;
  });
  return sent;
}

/** The server assigns the id. Creates of what the record refers to are noted later, under their own lease. */
function isCreate({ server, recorded }: SendOptions, resource: FhirResource): boolean {
  const isNew = server.idPolicy === 'server' && !recorded.has(keyOf(resource));
  return isNew && !SENT_AHEAD.has(resource.resourceType);
}

/** After `kill -9` at most the writes of this time are not on record. The next publish settles them (docs/adr/0050). */
const GATHER_MS = 250;

/** Records in batches, so that a short publish needs one statement for all. What could not be written stays. */
export function createRecording(write: (stored: StoredResource[]) => Promise<void>, nowMs: () => number) {
  const waiting: StoredResource[] = [];
  let writtenMs = nowMs();

  async function writeRest(): Promise<void> {
    writtenMs = nowMs();
    const batch = waiting.splice(0);
    if (batch.length === 0) return;
    await write(batch).catch((error: unknown) => {
      waiting.unshift(...batch);
      throw error;
    });
  }

  return {
    /** Something was stored. Writes everything that waits when the last writing was a while ago. */
    async note(stored: StoredResource): Promise<void> {
      waiting.push(stored);
      if (nowMs() - writtenMs >= GATHER_MS) await writeRest().catch(() => undefined);
    },
    writeRest,
  };
}

/** Another resource has failed, so no further request begins. */
class Stopped extends Error {
  override name = 'Stopped';
}
