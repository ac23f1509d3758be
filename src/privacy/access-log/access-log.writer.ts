/**
 * Writes the access log: entries of one organisation whose requests wait together go out in one statement (group commit).
 * While the entries of one organisation are written, those of another go into another chain, so that an organisation
 * whose part of the database does not answer keeps the others waiting for nothing (docs/adr/0133).
 * Contract: LOG-9, LOG-10, LOG-11, LOG-20.
 */
import { currentTrace, inTrace, type TraceContext } from '../../platform/trace/trace.ts';
import { isWholeDatabase, type OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
import { privacyError } from '../errors.ts';
import type { AccessEntry, AccessLog } from './access-log.ts';
import { type ChainOptions, createWriterChain, type NotedHead, type WriterChain } from './writer-chain.ts';

/** Name of the log event that notes the head of a chain. */
export const HEAD_EVENT = 'access-log.head';
/** Name of the log event that a rotation of the master key ended a chain, and another begins. */
export const RENEWED_EVENT = 'access-log.chain-renewed';
/** Entries in one statement at most. */
const MAX_GROUP = 2_000;
/** Chains of a process at most: for so many organisations entries are written at the same time. */
export const MAX_CHAINS = 4;

export interface AccessLogWriterOptions extends ChainOptions {
  onError: (error: Error) => void;
  /** Told the size of each group that was written. */
  onGroup?: (entries: number) => void;
  /** Notes the organisations whose entries cannot be written, in place of `onError`. */
  work?: OrganisationWork;
}

export interface AccessLogWriter extends AccessLog {
  /** The heads of this writer's chains; none before the first entry. */
  heads(): NotedHead[];
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

interface Lane {
  chain: WriterChain;
  writing: Promise<void> | undefined;
}

export function createAccessLogWriter(options: AccessLogWriterOptions): AccessLogWriter {
  const queues = new Map<string, Queue>();
  const lanes: Lane[] = [];
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

  /** Begin as many groups as there are chains for them. */
  function writeNext(): void {
    for (const queue of queues.values()) {
      if (queue.writing) continue;
      const lane = laneFor(queue);
      if (lane === undefined) continue;
      queue.writing = true;
      lane.writing = writeGroup(lane.chain, queue.organisationId, takeGroup(queue)).finally(() => {
        lane.writing = undefined;
        queue.writing = false;
        // Behind the others that wait.
        queues.delete(queue.organisationId);
        if (queue.waiting.length > 0) queues.set(queue.organisationId, queue);
        writeNext();
      });
    }
  }

  /** Of organisations that the log fails for, one is written for at a time, and not on the first chain's connection. */
  function laneFor({ organisationId }: Queue): Lane | undefined {
    const isFailing = (id: string) => options.work?.isFailing(id) === true;
    if (!isFailing(organisationId)) return freeLane(0);
    const busy = [...queues.values()].some((queue) => queue.writing && isFailing(queue.organisationId));
    return busy ? undefined : freeLane(1);
  }

  function freeLane(from: number): Lane | undefined {
    for (let index = 0; index < MAX_CHAINS; index += 1) {
      lanes[index] ??= createLane(index);
      const lane = lanes[index];
      if (index >= from && lane?.writing === undefined) return lane;
    }
    return undefined;
  }

  function createLane(index: number): Lane {
    const { connection, ...others } = options;
    return { chain: createWriterChain(index === 0 ? options : others), writing: undefined };
  }

  async function writeGroup(chain: WriterChain, organisationId: string, group: Waiting[]): Promise<void> {
    const entries = group.flatMap((waiting) => waiting.entries);
    try {
      // A lost connection may have written the group or not. The second try starts a chain of its own, so
      // that the worst outcome is an entry that is there twice.
      await inTrace(group[0]?.trace, () =>
        chain.append(entries).catch((error: Error) => {
          tell(organisationId, error);
          return chain.append(entries);
        }),
      );
      options.work?.succeeded(organisationId);
      options.onGroup?.(entries.length);
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      tell(organisationId, error as Error);
      for (const waiting of group) waiting.reject(privacyError('access_log', undefined, { cause: error }));
    }
  }

  function tell(organisationId: string, error: Error): void {
    if (options.work === undefined || isWholeDatabase(error)) options.onError(error);
    else options.work.failed(organisationId, error);
  }

  return {
    async record(entries) {
      const byOrganisation = Map.groupBy(entries, ({ organisationId }) => organisationId.toLowerCase());
      await Promise.all(Array.from(byOrganisation, ([organisationId, ofOne]) => add(organisationId, ofOne)));
    },
    heads: () => lanes.flatMap(({ chain }) => chain.head() ?? []),
    async close() {
      while (beginning !== undefined || lanes.some(({ writing }) => writing !== undefined))
        await Promise.all([beginning, ...lanes.map(({ writing }) => writing)]);
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
