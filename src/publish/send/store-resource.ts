/** Stores one resource at a FHIR server and records that. Contract: PUB-20, PUB-34. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { keyOf, type ResourceKey, sentBody } from '../plan/content.fhir.ts';
import type { Rendered, Rendering } from '../plan/rendering.ts';
import { isShared } from '../plan/resource-types.ts';
import { takeLease, type WantedLease } from '../runs/lease.store.ts';
import { type PublishLease, withLease } from '../runs/lease.ts';
import type { Waiting } from '../runs/waiting.ts';
import type { LiveFhirServer } from '../servers/live-fhir-servers.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import type { RecordQueue } from './record-queue.ts';
import { findRecorded, noteCreates, type RecordedResource, type StoredResource } from './resource.store.ts';
import type { RetryBudget } from './retry.ts';
import { contentDigest, type PublishWriteContext } from './write-request.ts';
import { writeToServer } from './write-resource.ts';

export interface StoreDependencies {
  db: Queryable;
  scope: FacilityScope;
  server: LiveFhirServer;
  correlationId: string;
  settings: PublishSettings;
  waiting: Waiting;
  now: () => Date;
  rendering: Rendering;
  /** What the server held of them before. */
  recorded: ReadonlyMap<ResourceKey, RecordedResource>;
  chainId: string;
}

export interface Storing extends StoreDependencies {
  queue: RecordQueue;
  /** Of the whole publish. */
  retryBudget: RetryBudget;
  /** Throws when no further request may begin. */
  requireMaySend: () => void;
  /** Say that this try has written a resource. */
  noteFresh: () => void;
}

/** A record that patients share is created under a lease of its own. */
export async function storeResource(storing: Storing, resource: FhirResource): Promise<StoredResource> {
  const before = storing.recorded.get(keyOf(resource));
  if (!isShared(resource.resourceType))
    return store(storing, resource, before, { noteLost: (key) => noteCreate(storing, key) });
  const isCreate = storing.server.idPolicy === 'server' && before?.serverId == null;
  if (isCreate) return storeAlone(storing, resource, undefined);
  try {
    return await store(storing, resource, before, {
      noteLost: async (_, lostId) => {
        throw new SharedLost(lostId);
      },
    });
  } catch (error) {
    if (error instanceof SharedLost) return storeAlone(storing, resource, error.lostId);
    throw error;
  }
}

/**
 * Under a lease of its own: a publish of another patient or facility may be about to create the same record. `lostId` is
 * the recorded id at which the server no longer has it. The other publish may have replaced that id already.
 */
async function storeAlone(
  storing: Storing,
  resource: FhirResource,
  lostId: string | undefined,
): Promise<StoredResource> {
  const { db, scope, server, settings, queue, waiting } = storing;
  const key = keyOf(resource);
  const leaseKey = { organisationId: scope.organisationId, fhirServerId: server.id, record: key };
  const leaseOptions = {
    db,
    clock: settings.clock,
    settings: settings.lease,
    timeoutMs: server.timeoutMs,
    waiting,
  };
  const work = async (guard: PublishLease) => {
    const requireMaySend = () => {
      storing.requireMaySend();
      guard.requireHeld();
    };
    const [current] = await findRecorded(db, scope, { fhirServerId: server.id, keys: [key] });
    const isLost = lostId !== undefined && current?.serverId === lostId;
    if (current === undefined || isLost) await noteCreate(storing, key);
    const before = isLost ? { ...current, serverId: null, contentHash: null } : current;
    const stored = await store({ ...storing, requireMaySend }, resource, before, {
      noteLost: () => noteCreate(storing, key),
    });
    await queue.drained();
    return stored;
  };
  const take = (wanted: WantedLease) => takeLease(db, wanted);
  // Nobody waits on for a publish that has failed meanwhile.
  return withLease(leaseOptions, leaseKey, { take, work, requireWanted: storing.requireMaySend });
}

async function noteCreate({ db, scope, server }: Storing, key: ResourceKey): Promise<void> {
  await noteCreates(db, scope, { fhirServerId: server.id, keys: [key] });
}

/** `before`: what is on record of it. */
async function store(
  storing: Storing,
  given: FhirResource,
  before: RecordedResource | undefined,
  { noteLost }: Pick<PublishWriteContext, 'noteLost'>,
): Promise<StoredResource> {
  const { rendering, chainId, queue, scope, server, settings } = storing;
  const ready = rendering.render(given);
  const kept = keptFrom(before, { chainId, fhirServerId: server.id, ready });
  if (kept !== undefined) return kept;
  const { resource } = ready;
  const ownId = server.idPolicy === 'client' ? resource.id : undefined;
  const inDoubt = before !== undefined && before.serverId === null;
  const knownId = before?.serverId ?? (inDoubt ? undefined : ownId);
  const held = knownId === undefined ? undefined : { id: knownId, versionId: before?.versionId ?? null };
  const tries = storing.retryBudget.tries();
  const context: PublishWriteContext = {
    organisationId: scope.organisationId,
    fhirServerId: server.id,
    correlationId: storing.correlationId,
    send: (request) =>
      server.send(request, () => {
        storing.requireMaySend();
        return tries.begin();
      }),
    clock: settings.clock,
    tries,
    noteLost,
  };
  const { id, ...written } = await writeToServer(context, { ...ready, held, inDoubt, ownId });
  const stored = { ...written, key: keyOf(resource), serverId: id, chainId, publishedAt: storing.now() };
  storing.noteFresh();
  queue.add(stored);
  return stored;
}

/** What an earlier try of this same publish stored, when it is what would be sent now. */
function keptFrom(
  before: RecordedResource | undefined,
  { chainId, fhirServerId, ready }: { chainId: string; fhirServerId: string; ready: Rendered },
): StoredResource | undefined {
  if (before?.chainId !== chainId) return undefined;
  const { key, serverId, versionId, contentHash, method, status, publishedAt } = before;
  if (serverId === null || contentHash === null || method === null || status === null || publishedAt === null)
    return undefined;
  const { resource, json } = ready;
  const body = sentBody(resource, serverId, json);
  if (contentHash !== contentDigest(fhirServerId, resource, body)) return undefined;
  return { key, serverId, versionId, contentHash, method, status, publishedAt, chainId };
}

/** The server has lost a record that patients share. It is created again under a lease of its own. */
class SharedLost extends Error {
  override name = 'SharedLost';
  readonly lostId: string;

  constructor(lostId: string) {
    super();
    this.lostId = lostId;
  }
}
