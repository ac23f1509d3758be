/** Proves that nothing in the access log was changed or removed (design section 4). */
import type { Queryable } from '../platform/db/database.ts';
import type { HashedEntry, WriterRow } from './access-log.store.ts';
import {
  listWriters,
  readChain,
  readRegistry,
  readTotals,
  unregisteredWriters,
  type WriterTotals,
} from './access-log-chain.store.ts';
import { entryHash, genesisHash, headSeal, registrySeal } from './hash-chain.ts';

const PAGE = 5_000;
export const REGISTRATION_CHANGED = 'the registration was changed';

/** One fault. `sequence` is the entry at which the chain stops being good. */
export interface ChainFault {
  writerId: string;
  sequence: number | null;
  reason: string;
}

export interface VerificationResult {
  ok: boolean;
  writers: number;
  entries: number;
  faults: ChainFault[];
  /** The head of each chain. Kept elsewhere, it shows later that the log was not rolled back to an older state. */
  heads: { writerId: string; number: number; sequence: number; hash: string }[];
}

/** A head that was noted down earlier. */
export interface NotedHead {
  writerId: string;
  sequence: number;
  hash: string;
}

/** Keys of the access log, newest first: a chain has any of them, its head and the register have the newest. */
export type ChainKeys = readonly [newest: Uint8Array, ...older: Uint8Array[]];

/**
 * Walk every chain in pages. `noted` heads, from an earlier run, must still be part of the chains.
 * `onProgress` is told how many entries were checked so far.
 */
export async function verifyAccessLog(
  db: Queryable,
  readKeys: (db: Queryable) => Promise<ChainKeys>,
  options: { noted?: readonly NotedHead[]; onProgress?: (entries: number) => void } = {},
): Promise<VerificationResult> {
  const { keys, registry, writers } = await readRegister(db, readKeys);
  const faults: ChainFault[] = [...numberFaults(writers), ...registryFaults(keys[0], registry, writers)];
  for (const writerId of await unregisteredWriters(db))
    faults.push({ writerId, sequence: null, reason: 'entries of a writer that is not registered' });
  const noted = new Map(
    (options.noted ?? []).map((head) => [`${head.writerId}/${head.sequence}`, head.hash]),
  );
  let entries = 0;
  for (const writer of writers) {
    const walked = await walkChain(db, keys, {
      writer,
      noted,
      onEntries: (n) => options.onProgress?.(entries + n),
    });
    entries += walked.entries;
    if (walked.fault !== undefined) faults.push(walked.fault);
  }
  for (const position of noted.keys()) {
    const [writerId = '', sequence = ''] = position.split('/');
    faults.push({
      writerId,
      sequence: Number(sequence),
      reason: 'a head that was noted earlier is gone or differs',
    });
  }
  return { ok: faults.length === 0, writers: writers.length, entries, faults, heads: writers.map(toHead) };
}

interface Register {
  keys: ChainKeys;
  registry: { lastNumber: number; seal: Buffer } | undefined;
  writers: WriterRow[];
}

/** A rotation of the master key renews the keys and every seal at once: what was read is of before it or of after it. */
async function readRegister(
  db: Queryable,
  readKeys: (db: Queryable) => Promise<ChainKeys>,
): Promise<Register> {
  const keys = await readKeys(db);
  // Before the writers: one that registers meanwhile is then not missed.
  const registry = await readRegistry(db);
  const writers = await listWriters(db);
  const isSame = (await readKeys(db)).length === keys.length;
  return isSame ? { keys, registry, writers } : readRegister(db, readKeys);
}

function toHead(writer: WriterRow) {
  return {
    writerId: writer.id,
    number: writer.number,
    sequence: writer.lastSequence,
    hash: writer.lastHash.toString('hex'),
  };
}

function numberFaults(writers: readonly WriterRow[]): ChainFault[] {
  return writers.flatMap((writer, index) =>
    writer.number === index + 1 || writer.number === (writers[index - 1]?.number ?? 0) + 1
      ? []
      : [{ writerId: writer.id, sequence: null, reason: 'a writer registered before this one was removed' }],
  );
}

function registryFaults(
  key: Uint8Array,
  registry: { lastNumber: number; seal: Buffer } | undefined,
  writers: readonly WriterRow[],
): ChainFault[] {
  const last = writers.at(-1);
  const fault = (reason: string) => [{ writerId: last?.id ?? '', sequence: null, reason }];
  if (registry === undefined) return last === undefined ? [] : fault('the register of writers was removed');
  if (!registrySeal(key, registry.lastNumber).equals(registry.seal)) return fault(REGISTRATION_CHANGED);
  return (last?.number ?? 0) < registry.lastNumber ? fault('the writer registered last was removed') : [];
}

interface Walk {
  writer: WriterRow;
  noted: Map<string, string>;
  onEntries: (entries: number) => void;
}

/** Thrown inside a walk: where the chain stops being good, and why. */
class BrokenChain extends Error {
  readonly sequence: number | null;

  constructor(sequence: number | null, reason: string) {
    super(reason);
    this.sequence = sequence;
  }
}

async function walkChain(
  db: Queryable,
  keys: ChainKeys,
  walk: Walk,
): Promise<{ entries: number; fault?: ChainFault }> {
  const { writer, onEntries } = walk;
  let entries = 0;
  try {
    const { key, start } = startOf(keys, walk);
    let link = start;
    while (link.sequence < writer.lastSequence) {
      const page = await readChain(db, writer.id, { sequence: link.sequence, limit: PAGE });
      const known = page.filter(({ sequence }) => sequence <= writer.lastSequence);
      if (known.length === 0) throw new BrokenChain(link.sequence + 1, 'entries at the end were removed');
      for (const entry of known) link = nextLink(key, link, { entry, walk });
      entries = link.sequence;
      onEntries(entries);
    }
    checkHead(keys[0], link, writer);
    checkTotals(await readTotals(db, writer.id));
    return { entries };
  } catch (error) {
    if (!(error instanceof BrokenChain)) throw error;
    return { entries, fault: { writerId: writer.id, sequence: error.sequence, reason: error.message } };
  }
}

/** How far a walk has come, and the hash there. */
interface Link {
  sequence: number;
  hash: Buffer;
}

/** The first hash shows which key the chain has. */
function startOf(keys: ChainKeys, walk: Walk): { key: Uint8Array; start: Link } {
  const { id, number, startedAt, genesisHash: hash } = walk.writer;
  const key = keys.find((candidate) => genesisHash(candidate, id, number, startedAt).equals(hash));
  if (key === undefined) throw new BrokenChain(null, REGISTRATION_CHANGED);
  return { key, start: meet(walk, { sequence: 0, hash }) };
}

function nextLink(key: Uint8Array, link: Link, { entry, walk }: { entry: HashedEntry; walk: Walk }): Link {
  const { sequence } = entry;
  if (sequence === link.sequence) throw new BrokenChain(sequence, 'an entry was inserted');
  if (sequence !== link.sequence + 1) throw new BrokenChain(link.sequence + 1, 'an entry was removed');
  const hash = entryHash(key, link.hash, entry);
  if (!hash.equals(entry.hash) || !link.hash.equals(entry.previousHash))
    throw new BrokenChain(sequence, 'an entry was changed');
  return meet(walk, { sequence, hash });
}

/** A head that was noted earlier is found where it was. */
function meet({ writer, noted }: Walk, link: Link): Link {
  const position = `${writer.id}/${link.sequence}`;
  if (noted.get(position) === link.hash.toString('hex')) noted.delete(position);
  return link;
}

function checkHead(key: Uint8Array, { sequence, hash }: Link, writer: WriterRow): void {
  const sealed = headSeal(key, writer.id, sequence, hash);
  if (!hash.equals(writer.lastHash) || !sealed.equals(writer.headSeal))
    throw new BrokenChain(sequence, 'the head of the chain was changed');
}

/** The walk sees the entries that follow one another; there must be no others. */
function checkTotals(totals: WriterTotals | undefined): void {
  if (totals === undefined) throw new BrokenChain(null, 'the registration was removed');
  if (totals.entries !== totals.lastSequence)
    throw new BrokenChain(null, 'there are entries that are not part of the chain');
  if (totals.finerTimes) throw new BrokenChain(null, 'a time was changed');
}
