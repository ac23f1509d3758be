/**
 * Writes the access log: entries of one organisation whose requests wait together go out in one statement (group commit).
 * While the entries of one organisation are written, those of another go into another chain, so that an organisation
 * whose part of the database does not answer keeps the others waiting for nothing (docs/adr/0133).
 * Contract: LOG-9, LOG-10, LOG-11, LOG-20.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { outageOf } from '../../platform/db/unavailable.ts';
import { currentTrace, inTrace, type TraceContext } from '../../platform/trace/trace.ts';
import { createTurns, mostAtOnce } from '../../tenancy/organisations/organisation-turns.ts';
import { isWholeDatabase, type OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
import { privacyError } from '../errors.ts';
import type { AccessEntry, AccessLog } from './access-log.ts';
import { type ChainOptions, createWriterChain, type ReachedHead, type WriterChain } from './writer-chain.ts';

/** Name of the log event that notes the head of a chain. */
export const HEAD_EVENT = 'access-log.head';
/** Name of the log event that a rotation of the master key ended a chain, and another begins. */
export const RENEWED_EVENT = 'access-log.chain-renewed';
/** Entries in one statement at most. */
const MAX_GROUP = 2_000;
/** For so many organisations entries are written at the same time, without slow ones and those that it fails for. */
const ORGANISATIONS_AT_ONCE = 4;
/** How long one statement of a group may take: callers and other organisations wait for it. */
export const APPEND_LIMIT_MS = 3_000;
/** Chains of a process at most. */
export const MAX_CHAINS = mostAtOnce(ORGANISATIONS_AT_ONCE);

export interface AccessLogWriterOptions extends ChainOptions {
  /** The connection to append on, when there is a better one than the pool (docs/adr/0004). */
  connection?: (() => Queryable | undefined) | undefined;
  onError: (error: Error) => void;
  /** Told the size of each group that was written. */
  onGroup?: (entries: number) => void;
  /** Notes the organisations whose entries cannot be written, in place of `onError`. */
  work?: OrganisationWork;
}

export interface AccessLogWriter extends AccessLog {
  /** The heads of this writer's chains; none before the first entry. */
  heads(): ReachedHead[];
  /** Resolves when everything that was handed in is settled. */
  close(): Promise<void>;
}

interface Waiting {
  entries: readonly AccessEntry[];
  trace: TraceContext | undefined;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** What waits of one organisation. */
interface Queue {
  organisationId: string;
  waiting: Waiting[];
  /** A group of it is being written. */
  writing: boolean;
}

/** A chain of this writer, and the group that it is writing. */
interface ChainSlot {
  chain: WriterChain;
  writing: Promise<void> | undefined;
}

export function createAccessLogWriter(options: AccessLogWriterOptions): AccessLogWriter {
  const queues = new Map<string, Queue>();
  const slots: ChainSlot[] = [];
  const turns = createTurns({
    work: options.work,
    atOnce: ORGANISATIONS_AT_ONCE,
    onFree: writeNext,
    onSlow: () => answering.clear(),
  });
  /**
   * Organisations whose entries were written since a group of any was last slow or failed. Of others nobody knows whether
   * their part of the database answers, so they do not use the connection that everybody waits for.
   */
  const answering = new Set<string>();
  let beginning: Promise<void> | undefined;

  function add(organisationId: string, entries: readonly AccessEntry[]): Promise<void> {
    const queue = queues.get(organisationId) ?? { organisationId, waiting: [], writing: false };
    queues.set(organisationId, queue);
    return new Promise<void>((resolve, reject) => {
      queue.waiting.push({ entries, trace: currentTrace(), resolve, reject });
      // Let every request of this turn of the event loop join the first group.
      beginning ??= new Promise<void>((begin) => setImmediate(begin)).then(() => {
        beginning = undefined;
        writeNext();
      });
    });
  }

  /** Begin a group for each organisation that may have a turn. */
  function writeNext(): void {
    for (const queue of queues.values()) {
      const { organisationId } = queue;
      if (queue.writing || !turns.isFree(organisationId)) continue;
      const slot = freeSlot(options.work?.isFailing(organisationId) === true ? 1 : 0);
      if (slot === undefined) continue;
      queue.writing = true;
      const group = takeGroup(queue);
      slot.writing = turns
        .take(organisationId, () => writeGroup(slot, organisationId, group))
        .finally(() => {
          slot.writing = undefined;
          queue.writing = false;
          // Behind the others that wait.
          queues.delete(organisationId);
          if (queue.waiting.length > 0) queues.set(organisationId, queue);
          writeNext();
        });
    }
  }

  /** The first chain is the one that may use the better connection; `from` leaves it to others. */
  function freeSlot(from: number): ChainSlot | undefined {
    for (let index = 0; index < MAX_CHAINS; index += 1) {
      slots[index] ??= { chain: createWriterChain(options), writing: undefined };
      if (index >= from && slots[index]?.writing === undefined) return slots[index];
    }
    return undefined;
  }

  async function writeGroup(slot: ChainSlot, organisationId: string, group: Waiting[]): Promise<void> {
    const entries = group.flatMap((waiting) => waiting.entries);
    const append = () => {
      const mayShare = slot === slots[0] && answering.has(organisationId);
      return slot.chain.append(entries, mayShare ? options.connection?.() : undefined);
    };
    try {
      // A lost connection may have written the group or not. The second try starts a chain of its own, so
      // that the worst outcome is an entry that is there twice.
      await inTrace(group[0]?.trace, () =>
        append().catch((error: Error) => {
          // It would be as slow again, and keep others waiting.
          if (outageOf(error) === 'slow') throw error;
          tell(organisationId, error);
          return append();
        }),
      );
      answering.add(organisationId);
      options.work?.succeeded(organisationId);
      options.onGroup?.(entries.length);
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      tell(organisationId, error as Error);
      for (const waiting of group) waiting.reject(privacyError('access_log', undefined, { cause: error }));
    }
  }

  function tell(organisationId: string, error: Error): void {
    answering.clear();
    if (options.work === undefined || isWholeDatabase(error)) options.onError(error);
    else options.work.failed(organisationId, error);
  }

  return {
    async record(entries) {
      const byOrganisation = Map.groupBy(entries, ({ organisationId }) => organisationId.toLowerCase());
      await Promise.all(Array.from(byOrganisation, ([organisationId, ofOne]) => add(organisationId, ofOne)));
    },
    heads: () => slots.flatMap(({ chain }) => chain.head() ?? []),
    async close() {
      while (beginning !== undefined || slots.some(({ writing }) => writing !== undefined))
        await Promise.all([beginning, ...slots.map(({ writing }) => writing)]);
    },
  };
}

function takeGroup(queue: Queue): Waiting[] {
  let entries = 0;
  let taken = 0;
  while (taken < queue.waiting.length && (taken === 0 || entries < MAX_GROUP)) {
    entries += queue.waiting[taken]?.entries.length ?? 0;
    taken += 1;
  }
  return queue.waiting.splice(0, taken);
}
