/**
 * Writes the access log: entries of requests that wait together go out in one statement (group commit), in
 * one hash chain per writer.
 * Contract: LOG-9, LOG-10, LOG-11.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import type { Pool, Queryable } from '../../platform/db/database.ts';
import { transaction } from '../../platform/db/database.ts';
import { currentTrace, inTrace, type TraceContext } from '../../platform/trace/trace.ts';
import { privacyError } from '../errors.ts';
import {
  appendEntries,
  type HashedEntry,
  insertWriter,
  nextWriterNumber,
  readHeadSeal,
} from './access-log.store.ts';
import type { AccessEntry, AccessLog } from './access-log.ts';
import { entryHash, genesisHash, headSeal, registrySeal } from './hash-chain.ts';

/** Name of the log event that notes the head of a chain. */
export const HEAD_EVENT = 'access-log.head';
/** Name of the log event that a rotation of the master key ended a chain, and another begins. */
export const RENEWED_EVENT = 'access-log.chain-renewed';
/** Entries in one statement at most. */
const MAX_GROUP = 2_000;

export interface AccessLogWriterOptions {
  pool: Pool;
  /** The connection to append on, when there is a better one than the pool (docs/adr/0004). */
  connection?: () => Queryable | undefined;
  /** The 32-byte key of a new chain, asked in the transaction that registers it. */
  chainKey: (db: Queryable) => Promise<Buffer>;
  now: () => Date;
  onError: (error: Error) => void;
  /** Told the writer of a chain that a rotation of the master key ended. Nothing is lost: another chain begins. */
  onRenewed?: (writerId: string) => void;
  /** Told the size of each group that was written. */
  onGroup?: (entries: number) => void;
}

export interface AccessLogWriter extends AccessLog {
  /** The head of this writer's chain; undefined before its first entry. */
  head(): { writerId: string; sequence: number; hash: string } | undefined;
  /** Resolves when everything that was handed in is settled. */
  close(): Promise<void>;
}

interface Waiting {
  entries: readonly AccessEntry[];
  trace: TraceContext | undefined;
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Chain {
  writerId: string;
  key: Buffer;
  sequence: number;
  hash: Buffer;
  /** Of the head as this writer left it. */
  seal: Buffer;
}

export function createAccessLogWriter(options: AccessLogWriterOptions): AccessLogWriter {
  let queue: Waiting[] = [];
  let running: Promise<void> | undefined;
  let chain: Chain | undefined;

  async function run(): Promise<void> {
    // Let every request of this turn of the event loop join the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) await writeGroup(takeGroup());
    running = undefined;
  }

  function takeGroup(): Waiting[] {
    let entries = 0;
    let taken = 0;
    while (taken < queue.length && (taken === 0 || entries < MAX_GROUP)) {
      entries += queue[taken]?.entries.length ?? 0;
      taken += 1;
    }
    const group = queue.slice(0, taken);
    queue = queue.slice(taken);
    return group;
  }

  async function writeGroup(group: Waiting[]): Promise<void> {
    const entries = group.flatMap((waiting) => waiting.entries);
    try {
      // A lost connection may have written the group or not. The second try starts a chain of its own, so
      // that the worst outcome is an entry that is there twice.
      await inTrace(group[0]?.trace, () =>
        append(entries).catch((error: Error) => {
          options.onError(error);
          return append(entries);
        }),
      );
      options.onGroup?.(entries.length);
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      options.onError(error as Error);
      for (const waiting of group) waiting.reject(privacyError('access_log', undefined, { cause: error }));
    }
  }

  async function append(entries: readonly AccessEntry[]): Promise<void> {
    const started = chain ?? (await startChain());
    chain = undefined;
    const occurredAt = options.now();
    const { writerId, key } = started;
    let { hash, sequence } = started;
    const hashed = entries.map((entry): HashedEntry => {
      const previousHash = hash;
      sequence += 1;
      const chained = { ...entry, occurredAt, writerId, sequence };
      hash = entryHash(key, previousHash, chained);
      return { ...chained, previousHash, hash };
    });
    const seal = headSeal(key, writerId, sequence, hash);
    const written = await appendEntries(options.connection?.() ?? options.pool, hashed, {
      writerId,
      from: started,
      to: { sequence, hash, seal },
    }).catch((error: Error) => {
      if (isRolledBack(error)) chain = started;
      throw error;
    });
    if (!written) {
      if (!(await isSealedAnew(started)))
        throw new Error('somebody else changed the head of the access log chain; a new chain begins');
      options.onRenewed?.(writerId);
      return append(entries);
    }
    chain = { writerId, key, sequence, hash, seal };
  }

  /** A rotation of the master key leaves a head where it was, under a seal of the newest key, which ends the chain. */
  async function isSealedAnew({ writerId, key, sequence, hash }: Chain): Promise<boolean> {
    const newest = await options.chainKey(options.pool);
    const seal = await readHeadSeal(options.pool, writerId);
    return !newest.equals(key) && seal?.equals(headSeal(newest, writerId, sequence, hash)) === true;
  }

  async function startChain(): Promise<Chain> {
    const id = randomUUID();
    const startedAt = options.now();
    return transaction(options.pool, async (client) => {
      const key = await options.chainKey(client);
      const number = await nextWriterNumber(client, (last) => registrySeal(key, last));
      const hash = genesisHash(key, id, number, startedAt);
      const seal = headSeal(key, id, 0, hash);
      await insertWriter(client, {
        id,
        number,
        startedAt,
        genesisHash: hash,
        lastSequence: 0,
        lastHash: hash,
        headSeal: seal,
      });
      return { writerId: id, key, sequence: 0, hash, seal };
    });
  }

  return {
    record(entries) {
      if (entries.length === 0) return Promise.resolve();
      return new Promise<void>((resolve, reject) => {
        queue.push({ entries, trace: currentTrace(), resolve, reject });
        running ??= run();
      });
    },
    head: () =>
      chain && { writerId: chain.writerId, sequence: chain.sequence, hash: chain.hash.toString('hex') },
    async close() {
      while (running !== undefined) await running;
    },
  };
}

/** PostgreSQL refused the statement, so nothing of it was written, and the chain can go on where it was. */
function isRolledBack(error: Error): boolean {
  // Not of a lost connection (EPIPE has the shape of a SQLSTATE), a stopping server, a system fault or an internal one.
  return error instanceof DatabaseError && !/^(?:08|57|58|XX)/.test(String(error.code));
}
