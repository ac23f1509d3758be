/** Sends resources level by level: those of one level at once, each recorded as soon as it is stored. */
import type { FhirResource } from '../observations/fhir-resource.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { bodyOf, keyOf, type ResourceKey, splitKey } from './content.fhir.ts';
import { takeLease } from './lease.store.ts';
import { type Lease, type WantedLease, withLease } from './lease.ts';
import type { LiveTarget } from './live-targets.ts';
import type { PublishSettings } from './publish-settings.ts';
import { createRecordQueue } from './record-queue.ts';
import type { Rendered, Rendering } from './rendering.ts';
import {
  findRecorded,
  noteCreates,
  type RecordedResource,
  recordStored,
  type StoredResource,
} from './resource.store.ts';
import { contentDigest, type WriteContext, writeResource } from './write-resource.ts';

export interface SendOptions {
  db: Queryable;
  scope: FacilityScope;
  target: LiveTarget;
  correlationId: string;
  lease: Lease;
  settings: PublishSettings;
  now: () => Date;
  rendering: Rendering;
  /** What the target held of them before. */
  recorded: ReadonlyMap<ResourceKey, RecordedResource>;
  chainId: string;
}

export interface Sent {
  /** What is stored, by key; those that an earlier try of this publish stored are among them. */
  done: Map<ResourceKey, StoredResource>;
  /** Stored by this try. */
  fresh: number;
  /** Why it stopped; undefined when everything is stored. */
  failure: unknown;
  /** Stored, and not on record yet. */
  unrecorded: StoredResource[];
}

/** Records that patients and facilities share: every create of one is guarded on its own. */
const SHARED = new Set(['Organization', 'Practitioner', 'Location']);

/** Never throws: what went wrong is in the answer. */
export async function sendLevels(options: SendOptions): Promise<Sent> {
  const { db, scope, target, rendering, recorded, settings, chainId } = options;
  const targetId = target.id;
  const sent: Sent = { done: new Map(), fresh: 0, failure: undefined, unrecorded: [] };
  const queue = createRecordQueue((stored) => recordStored(db, scope, { targetId, stored }));
  const noteCreate = (keys: ResourceKey[]) => noteCreates(db, scope, { targetId, keys });
  const requireGoing = () => {
    if (sent.failure !== undefined) throw new Stopped();
    options.lease.requireHeld();
  };
  const writing: WriteContext = {
    organisationId: scope.organisationId,
    targetId,
    correlationId: options.correlationId,
    send: (request) => target.send(request, requireGoing),
    clock: settings.clock,
    retry: settings.retry,
    async noteLost(key, lostId) {
      if (SHARED.has(splitKey(key).type)) throw new SharedLost(lostId);
      await noteCreate([key]);
    },
  };

  async function one(resource: FhirResource): Promise<void> {
    const before = recorded.get(keyOf(resource));
    const shared = SHARED.has(resource.resourceType);
    if (shared && target.idPolicy === 'server' && before?.serverId == null) return guarded(resource);
    try {
      await store(resource, { before, writing });
    } catch (error) {
      if (!(error instanceof SharedLost)) throw error;
      await guarded(resource, error.lostId);
    }
  }

  /** Another publish, of another patient or facility, may be about to create the same record. */
  async function guarded(resource: FhirResource, lostId?: string): Promise<void> {
    const { clock, lease: times } = settings;
    const key = keyOf(resource);
    const leaseKey = { organisationId: scope.organisationId, targetId, record: key };
    const leaseOptions = { db, clock, settings: times, timeoutMs: target.timeoutMs };
    const take = (wanted: WantedLease) => takeLease(db, wanted);
    const work = async (guard: Lease) => {
      const guardedWriting: WriteContext = {
        ...writing,
        send: (request) =>
          target.send(request, () => {
            requireGoing();
            guard.requireHeld();
          }),
        noteLost: () => noteCreate([key]),
      };
      const [current] = await findRecorded(db, scope, { targetId, keys: [key] });
      const gone = lostId !== undefined && (current === undefined || current.serverId === lostId);
      if (current === undefined || gone) await noteCreate([key]);
      await store(resource, { before: gone ? undefined : current, gone, writing: guardedWriting });
      await queue.drained();
    };
    await withLease(leaseOptions, leaseKey, { take, work });
  }

  async function store(given: FhirResource, { before, ...how }: StoreOptions): Promise<void> {
    const key = keyOf(given);
    const ready = rendering.render(given);
    const kept = keptFrom(before, { chainId, targetId, ready });
    const stored = kept ?? (await write(ready, { before, ...how }));
    rendering.known.set(key, stored.serverId);
    sent.done.set(key, stored);
  }

  async function write(
    { resource, json }: Rendered,
    { before, gone = false, writing: context }: StoreOptions,
  ): Promise<StoredResource> {
    const ownId = target.idPolicy === 'client' && !gone ? resource.id : undefined;
    const inDoubt = before !== undefined && before.serverId === null;
    const serverId = before?.serverId ?? (inDoubt ? undefined : ownId);
    const { id, ...written } = await writeResource(context, { resource, json, serverId, inDoubt, ownId });
    const stored = { ...written, key: keyOf(resource), serverId: id, chainId, publishedAt: options.now() };
    sent.fresh += 1;
    queue.add(stored);
    return stored;
  }

  /** Those that patients share are noted once they are guarded. */
  function isCreate(resource: FhirResource): boolean {
    const isNew = target.idPolicy === 'server' && !recorded.has(keyOf(resource));
    return isNew && !SHARED.has(resource.resourceType);
  }

  async function level(resources: readonly FhirResource[]): Promise<void> {
    const creates = resources.filter(isCreate).map(keyOf);
    if (creates.length > 0) await noteCreate(creates);
    const stop = (error: unknown) => {
      if (!(error instanceof Stopped)) sent.failure ??= error;
    };
    await Promise.all(resources.map((resource) => one(resource).catch(stop)));
  }

  try {
    for (const resources of rendering.levels) {
      if (sent.failure === undefined) await level(resources);
    }
    sent.unrecorded = await queue.takeWaiting();
  } catch (error) {
    sent.failure ??= error;
  }
  return sent;
}

interface StoreOptions {
  /** What is on record of it. */
  before: RecordedResource | undefined;
  /** The target has lost it, and that is on record: it is made anew. */
  gone?: boolean;
  writing: WriteContext;
}

/** The target has lost a record that patients share; making it anew is guarded. */
class SharedLost extends Error {
  override name = 'SharedLost';
  readonly lostId: string;

  constructor(lostId: string) {
    super();
    this.lostId = lostId;
  }
}

/** Something else has failed; what was not begun stays so. */
class Stopped extends Error {
  override name = 'Stopped';
}

/** What an earlier try of this same publish stored, when it is what would be sent now. */
function keptFrom(
  before: RecordedResource | undefined,
  { chainId, targetId, ready }: { chainId: string; targetId: string; ready: Rendered },
): StoredResource | undefined {
  if (before?.chainId !== chainId) return undefined;
  const { key, serverId, versionId, contentHash, method, status, publishedAt } = before;
  if (serverId === null || contentHash === null || method === null || status === null || publishedAt === null)
    return undefined;
  const { resource, json } = ready;
  const body = bodyOf(resource, serverId, json);
  if (contentHash !== contentDigest(targetId, resource, body)) return undefined;
  return { key, serverId, versionId, contentHash, method, status, publishedAt, chainId };
}
