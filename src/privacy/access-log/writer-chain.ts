/**
 * One chain of the access log, as its writer goes on with it. It begins with the first entry, and another begins where it
 * cannot be told how far it came.
 * Contract: LOG-14, LOG-17.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import {
  appendEntries,
  type HashedEntry,
  insertWriter,
  nextWriterNumber,
  readHeadSeal,
} from './access-log.store.ts';
import type { AccessEntry } from './access-log.ts';
import { entryHash, genesisHash, headSeal, registrySeal } from './hash-chain.ts';

export interface ChainOptions {
  pool: Pool;
  /** The 32-byte key of a new chain, asked in the transaction that registers it. */
  chainKey: (db: Queryable) => Promise<Buffer>;
  now: () => Date;
  /** Told the writer of a chain that a rotation of the master key ended. Nothing is lost: another chain begins. */
  onRenewed?: (writerId: string) => void;
}

/** How far a chain has come. */
export interface ReachedHead {
  writerId: string;
  sequence: number;
  hash: string;
}

export interface WriterChain {
  /**
   * Durable when it resolves. One call at a time. All entries are of one organisation. They are written on `connection`
   * when there is one, else on one of the pool.
   */
  append(entries: readonly AccessEntry[], connection?: Queryable): Promise<void>;
  /** Undefined before the first entry. */
  head(): ReachedHead | undefined;
}

interface Chain {
  writerId: string;
  key: Buffer;
  sequence: number;
  hash: Buffer;
  /** Of the head as this writer left it. */
  seal: Buffer;
}

export function createWriterChain(options: ChainOptions): WriterChain {
  let chain: Chain | undefined;

  async function append(entries: readonly AccessEntry[], connection?: Queryable): Promise<void> {
    const started = chain ?? (await startChain(options));
    chain = undefined;
    const { hashed, moved } = chainEntries(started, entries, options.now());
    const { writerId } = started;
    const move = { writerId, from: started, to: moved };
    const written = await appendEntries(connection ?? options.pool, hashed, move).catch(
      async (error: Error) => {
        if (isRolledBack(error) || (await isAsLeft(options, started, error))) chain = started;
        throw error;
      },
    );
    if (!written) {
      if (!(await isSealedAnew(options, started)))
        throw new Error('somebody else changed the head of the access log chain; a new chain begins');
      options.onRenewed?.(writerId);
      return append(entries, connection);
    }
    chain = moved;
  }

  return {
    append,
    head: () =>
      chain && { writerId: chain.writerId, sequence: chain.sequence, hash: chain.hash.toString('hex') },
  };
}

/** The entries with their places in the chain, and the chain as it is after them. */
function chainEntries(
  started: Chain,
  entries: readonly AccessEntry[],
  occurredAt: Date,
): { hashed: HashedEntry[]; moved: Chain } {
  const { writerId, key } = started;
  let { hash, sequence } = started;
  const hashed = entries.map((entry): HashedEntry => {
    const previousHash = hash;
    sequence += 1;
    const chained = { ...entry, occurredAt, writerId, sequence };
    hash = entryHash(key, previousHash, chained);
    return { ...chained, previousHash, hash };
  });
  return { hashed, moved: { writerId, key, sequence, hash, seal: headSeal(key, writerId, sequence, hash) } };
}

async function startChain({ pool, chainKey, now }: ChainOptions): Promise<Chain> {
  const id = randomUUID();
  const startedAt = now();
  return transaction(pool, async (client) => {
    const key = await chainKey(client);
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

/** A rotation of the master key leaves a head where it was, under a seal of the newest key, which ends the chain. */
async function isSealedAnew(
  { pool, chainKey }: ChainOptions,
  { writerId, key, sequence, hash }: Chain,
): Promise<boolean> {
  const newest = await chainKey(pool);
  const seal = await readHeadSeal(pool, writerId);
  return !newest.equals(key) && seal?.equals(headSeal(newest, writerId, sequence, hash)) === true;
}

/** PostgreSQL refused the statement, so nothing of it was written, and the chain can go on where it was. */
function isRolledBack(error: Error): boolean {
  // Not of a lost connection (EPIPE has the shape of a SQLSTATE), a stopping server, a system fault or an internal one.
  return error instanceof DatabaseError && !/^(?:08|57|58|XX)/.test(String(error.code));
}

/**
 * The database answered that it could not do it, for example because the node of the organisation is down: then the
 * head says whether something was written.
 */
async function isAsLeft({ pool }: ChainOptions, { writerId, seal }: Chain, error: Error): Promise<boolean> {
  if (!(error instanceof DatabaseError)) return false;
  const standing = await readHeadSeal(pool, writerId).catch(() => undefined);
  return standing?.equals(seal) === true;
}
