/** Proves that nothing in the access log was changed or removed (design section 4). */
import type { Queryable } from '../platform/db/database.ts';
import { listWriters, readChain, unregisteredWriters, type WriterRow } from './access-log.store.ts';
import { entryHash, genesisHash, headSeal } from './hash-chain.ts';

const PAGE = 5_000;

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

/**
 * Walk every chain in pages. `noted` heads, from an earlier run, must still be part of the chains.
 * `onProgress` is told how many entries were checked so far.
 */
export async function verifyAccessLog(
  db: Queryable,
  key: Uint8Array,
  options: { noted?: readonly NotedHead[]; onProgress?: (entries: number) => void } = {},
): Promise<VerificationResult> {
  const writers = await listWriters(db);
  const faults: ChainFault[] = numberFaults(writers);
  for (const writerId of await unregisteredWriters(db))
    faults.push({ writerId, sequence: null, reason: 'entries of a writer that is not registered' });
  const noted = new Map(
    (options.noted ?? []).map((head) => [`${head.writerId}/${head.sequence}`, head.hash]),
  );
  let entries = 0;
  for (const writer of writers) {
    const walked = await walkChain(db, key, {
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

interface Walk {
  writer: WriterRow;
  noted: Map<string, string>;
  onEntries: (entries: number) => void;
}

async function walkChain(
  db: Queryable,
  key: Uint8Array,
  { writer, noted, onEntries }: Walk,
): Promise<{ entries: number; fault?: ChainFault }> {
  const fault = (sequence: number | null, reason: string) => ({ writerId: writer.id, sequence, reason });
  let hash = genesisHash(key, writer.id, writer.number, writer.startedAt);
  if (!hash.equals(writer.genesisHash))
    return { entries: 0, fault: fault(null, 'the registration was changed') };
  const meet = (sequence: number) => {
    const position = `${writer.id}/${sequence}`;
    if (noted.get(position) === hash.toString('hex')) noted.delete(position);
  };
  let sequence = 0;
  meet(0);
  while (sequence < writer.lastSequence) {
    const page = await readChain(db, writer.id, { sequence, limit: PAGE });
    if (page.length === 0) break;
    for (const entry of page) {
      if (entry.sequence > writer.lastSequence) break;
      if (entry.sequence !== sequence + 1)
        return { entries: sequence, fault: fault(sequence + 1, 'an entry was removed') };
      hash = entryHash(key, hash, entry);
      if (!hash.equals(entry.hash))
        return { entries: sequence, fault: fault(entry.sequence, 'an entry was changed') };
      sequence = entry.sequence;
      meet(sequence);
    }
    onEntries(sequence);
  }
  if (sequence !== writer.lastSequence)
    return { entries: sequence, fault: fault(sequence + 1, 'entries at the end were removed') };
  const sealed = headSeal(key, writer.id, sequence, hash);
  if (!hash.equals(writer.lastHash) || !sealed.equals(writer.headSeal))
    return { entries: sequence, fault: fault(sequence, 'the head of the chain was changed') };
  return { entries: sequence };
}
