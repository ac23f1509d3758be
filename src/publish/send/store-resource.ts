/** Stores one resource at a FHIR server and records that. Contract: PUB-20, PUB-34. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { keyOf, type ResourceKey, sentBody } from '../plan/content.fhir.ts';
import { type Rendering, render } from '../plan/rendering.ts';
import { SENT_AHEAD } from '../plan/resource-types.ts';
import { CREATE, type LeaseDependencies, type PublishLease, withLease } from '../runs/lease.ts';
import type { LiveFhirServer } from '../servers/live-fhir-servers.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import {
  CREATE_BEGUN,
  findRecorded,
  noteCreates,
  type RecordedResource,
  recordStored,
  type StoredResource,
} from './resource.store.ts';
import type { RetryBudget } from './retry.ts';
import { contentDigest, type PublishWriteContext } from './write-request.ts';
import { writeToServer } from './write-resource.ts';

export interface StoreDependencies extends LeaseDependencies {
  scope: FacilityScope;
  server: LiveFhirServer;
  correlationId: string;
  settings: PublishSettings;
  now: () => Date;
  rendering: Rendering;
  /** What the server held of them before. */
  recorded: ReadonlyMap<ResourceKey, RecordedResource>;
  chainId: string;
  /** Asked after a wait for another publish. Rejects when nothing more may be sent. */
  requireAllowed: () => Promise<void>;
  /** Rejects when one of these parts of the record is not in it any more. */
  requireParts: (keys: readonly ResourceKey[]) => Promise<void>;
}

export interface Storing extends StoreDependencies {
  /** Of the whole publish. */
  retryBudget: RetryBudget;
  /** Throws when no further request may begin. */
  requireMaySend: () => void;
  /** Aborted once another resource has failed. */
  stopped: AbortSignal;
}

export interface StoreOutcome {
  stored: StoredResource;
  /** By the earlier try that this publish continues, by this one, or by this one and on record already. */
  how: 'kept' | 'written' | 'recorded';
}

/**
 * What a record refers to is created under a lease of its own: patients share practitioners, and a record may name another
 * patient and their encounter, for whom this publish has no lease.
 */
export async function storeResource(storing: Storing, resource: FhirResource): Promise<StoreOutcome> {
  const key = keyOf(resource);
  const before = storing.recorded.get(key);
  if (!SENT_AHEAD.has(resource.resourceType))
    return store(storing, resource, before, () => noteCreate(storing, key));
  const isCreate = storing.server.idPolicy === 'server' && before?.serverId == null;
  return isCreate ? storeAlone(storing, resource, undefined) : storeReferred(storing, resource, before);
}

async function storeReferred(
  storing: Storing,
  resource: FhirResource,
  before: RecordedResource | undefined,
): Promise<StoreOutcome> {
  try {
    return await store(storing, resource, before, async (lostId) => {
      throw new ReferredLost(lostId);
    });
  } catch (error) {
    if (error instanceof ReferredLost) return storeAlone(storing, resource, error.lostId);
    throw error;
  }
}

/**
 * Under a lease of its own: a publish of another patient or facility may be about to create the same record. `lostId` is
 * the recorded id at which the server no longer has it. If the other publish has created it by now, it is updated as any
 * other, and nobody waits for that.
 */
async function storeAlone(
  storing: Storing,
  resource: FhirResource,
  lostId: string | undefined,
): Promise<StoreOutcome> {
  const { db, scope, server } = storing;
  const key = keyOf(resource);
  const work = async (guard: PublishLease) => {
    const requireMaySend = () => {
      storing.requireMaySend();
      guard.requireHeld();
    };
    if (guard.waited) await storing.requireAllowed();
    const [current] = await findRecorded(db, scope, { server, keys: [key] });
    const isLost = lostId !== undefined && current?.serverId === lostId;
    if (current?.serverId != null && !isLost) return current;
    if (current === undefined || isLost) await noteCreate(storing, key);
    const before = isLost ? { key, ...CREATE_BEGUN } : current;
    const { stored, how } = await store({ ...storing, requireMaySend }, resource, before, () =>
      noteCreate(storing, key),
    );
    if (how === 'kept') return { stored, how };
    await recordStored(db, scope, { server, stored: [stored] });
    return { stored, how: 'recorded' as const };
  };
  // `Patient/<id>` is the lease of the publishes of a patient, which this one may hold.
  const lease: ResourceKey = resource.resourceType === 'Patient' ? `${CREATE}${key}` : key;
  const leaseKey = { organisationId: scope.organisationId, fhirServerId: server.id, records: [lease] };
  // Nobody waits on for a publish that has failed meanwhile.
  const done = await withLease(storing, leaseKey, { work, requireWanted: storing.requireMaySend });
  return 'how' in done ? done : storeReferred(storing, resource, done);
}

async function noteCreate({ db, scope, server }: Storing, key: ResourceKey): Promise<void> {
  await noteCreates(db, scope, { server, keys: [key] });
}

/** `before`: what is on record of it. */
async function store(
  storing: Storing,
  given: FhirResource,
  before: RecordedResource | undefined,
  noteLost: PublishWriteContext['noteLost'],
): Promise<StoreOutcome> {
  const { rendering, chainId, scope, server, settings } = storing;
  const resource = render(rendering, given);
  const kept = keptFrom(before, { chainId, fhirServerId: server.id, resource });
  if (kept !== undefined) return { stored: kept, how: 'kept' };
  const ownId = server.idPolicy === 'client' ? resource.id : undefined;
  const inDoubt = before?.serverId === null;
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
    stopped: storing.stopped,
    noteLost,
    requireOwn: () => requireOwn(storing, [resource]),
  };
  const { id, ...written } = await writeToServer(context, { resource, held, inDoubt, ownId });
  const stored = { ...written, key: keyOf(resource), serverId: id, chainId, publishedAt: storing.now() };
  return { stored, how: 'written' };
}

/** Rejects when one of them is a part of the record that is published, and has left it. */
export async function requireOwn(
  { requireParts }: StoreDependencies,
  resources: readonly FhirResource[],
): Promise<void> {
  const parts = resources.filter(({ resourceType }) => !SENT_AHEAD.has(resourceType));
  if (parts.length > 0) await requireParts(parts.map(keyOf));
}

/** What an earlier try of this same publish stored, when it is what would be sent now. */
function keptFrom(
  before: RecordedResource | undefined,
  { chainId, fhirServerId, resource }: { chainId: string; fhirServerId: string; resource: FhirResource },
): StoredResource | undefined {
  if (before?.chainId !== chainId) return undefined;
  const body = sentBody(resource, before.serverId);
  return before.contentHash === contentDigest(fhirServerId, resource, body) ? before : undefined;
}

/** The server has lost a record that others may refer to. It is created again under a lease of its own. */
class ReferredLost extends Error {
  override name = 'ReferredLost';
  readonly lostId: string;

  constructor(lostId: string) {
    super();
    this.lostId = lostId;
  }
}
