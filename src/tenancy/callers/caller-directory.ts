/**
 * Callers by session, live on every node: cached while this node hears of changes, read from the database
 * for each call while it does not (docs/adr/0004).
 * Contract: ACC-16, ACC-17, OPS-26, SEC-21.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache-size.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { type LiveChange, parseLiveChange } from '../live.ts';
import { findOrganisationId, loadCaller } from './caller.store.ts';
import type { Caller, TokenIdentity } from './caller.ts';

/**
 * A caller as found. `current` turns false the moment a change that may concern it is heard of; it is false from
 * the start where no change would be heard of.
 */
export interface CallerEntry {
  readonly caller: Caller;
  current: boolean;
}

export interface CallerDirectory {
  find(identity: TokenIdentity): Promise<CallerEntry | undefined>;
  /** A notification of {@link LIVE_CHANNEL}. */
  onNotification(payload: string): void;
  /** Empty the cache: something may have been missed. */
  forget(): void;
  /** Whether notifications arrive. Every change of this empties the cache. */
  setListening(listening: boolean): void;
}

const MAX_SESSIONS = 20_000;
const MAX_AGE_MS = 60_000;
/** Accounts whose organisation is remembered: about 200 bytes each. */
const MAX_ACCOUNTS = 100_000;

/** Whether a session has ended is told by the clock of the database. */
export function createCallerDirectory(
  db: Queryable,
  databaseTime: () => DatabaseTime = () => null,
): CallerDirectory {
  const cache = new LRUCache<string, CallerEntry>({
    ...atMost(MAX_SESSIONS),
    ttl: MAX_AGE_MS,
    dispose: (entry) => {
      entry.current = false;
    },
  });
  /** An account stays in its organisation, so what was read once counts for ever. */
  const organisationIds = new LRUCache<string, string>(atMost(MAX_ACCOUNTS));
  const loading = new Map<string, Promise<CallerEntry | undefined>>();
  let listening = false;
  /** Counts invalidations: an answer read before one is not kept after it. */
  let generation = 0;

  async function load(identity: TokenIdentity): Promise<CallerEntry | undefined> {
    const startedAt = generation;
    const organisationId = organisationIds.get(identity.accountId) ?? (await readOrganisationOf(identity));
    if (organisationId === undefined) return undefined;
    const caller = await loadCaller(db, { ...identity, organisationId }, databaseTime());
    if (caller === undefined) return undefined;
    // What changed while it was being read may or may not be in it.
    const entry: CallerEntry = { caller, current: listening && generation === startedAt };
    if (entry.current) cache.set(identity.sessionId, entry);
    return entry;
  }

  /** Named in the statement that loads a caller, so that a distributed database asks one node, not all. */
  async function readOrganisationOf({ accountId }: TokenIdentity): Promise<string | undefined> {
    const found = await findOrganisationId(db, accountId);
    if (found !== undefined) organisationIds.set(accountId, found);
    return found;
  }

  /** Calls of one session that miss together share one read, as long as nothing changed since it began. */
  function loadShared(identity: TokenIdentity): Promise<CallerEntry | undefined> {
    const key = `${generation}/${identity.sessionId}/${identity.accountId}`;
    let promise = loading.get(key);
    if (promise === undefined) {
      promise = load(identity).finally(() => loading.delete(key));
      loading.set(key, promise);
    }
    return promise;
  }

  function invalidate(change: LiveChange): void {
    generation += 1;
    if (change.sessionId !== undefined) {
      cache.delete(change.sessionId);
      return;
    }
    for (const [sessionId, entry] of cache.entries())
      if (entry.caller.organisationId === change.organisationId) cache.delete(sessionId);
  }

  function clear(): void {
    generation += 1;
    cache.clear();
  }

  return {
    async find(identity) {
      if (!listening) return load(identity);
      const entry = cache.get(identity.sessionId);
      if (entry === undefined) return loadShared(identity);
      return entry.caller.accountId === identity.accountId ? entry : undefined;
    },
    onNotification(payload) {
      const change = parseLiveChange(payload);
      if (change === undefined) clear();
      else invalidate(change);
    },
    forget: clear,
    setListening(value) {
      listening = value;
      clear();
    },
  };
}
