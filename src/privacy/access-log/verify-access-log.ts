/** Proves that nothing in the access log was changed or removed. Contract: LOG-15, LOG-16. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  type ArchivedRun,
  archiveName,
  type ChainKeys,
  type ReadChainKeys,
  readUnderKeys,
} from '../archive/archive-manifest.ts';
import { type Archives, checkFiles, loadArchives } from '../archive/check-archives.ts';
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
import { listRestores, type Restore } from './restore.store.ts';

const PAGE = 5_000;
export const REGISTRATION_CHANGED = 'the registration was changed';

/** One fault. `sequence` is the entry at which the chain stops being good. */
export interface ChainFault {
  writerId: string;
  sequence: number | null;
  reason: string;
  /** Name of the archive that is at fault; absent where a chain is. */
  archive?: string;
  /** When a restore put the database back that explains the fault; absent where none does. */
  restoredAt?: Date;
}

export interface VerificationResult {
  ok: boolean;
  writers: number;
  /** Read in the database. */
  entries: number;
  /** `filesChecked`: their files were read and are good, or are among the faults. `filesRead`: how many there were. */
  archived: { months: string[]; entries: number; filesChecked: boolean; filesRead: number };
  /** Noted heads that were compared with the chains. */
  headsCompared: number;
  /** Heads that were noted of entries which are archived, while no files were given to look for them. */
  headsInArchives: number;
  faults: ChainFault[];
  /** Each time that the operator put the database back to an older state, oldest first. */
  restores: Restore[];
  /** The head of each chain. Kept elsewhere, it shows later that the log was not rolled back to an older state. */
  heads: { writerId: string; number: number; sequence: number; hash: string }[];
}

/** A head that was noted down earlier. */
export interface NotedHead {
  writerId: string;
  sequence: number;
  hash: string;
  /** Absent where nobody wrote it down. */
  notedAt?: Date;
}

export interface VerificationOptions {
  /** Heads from an earlier run; they must still be part of the chains. */
  noted?: readonly NotedHead[];
  /** Folder with the files of the archived months, to be read as well. */
  archiveFolder?: string;
  /** Told how many entries were checked so far. */
  onProgress?: (entries: number) => void;
}

/** Walk every chain in pages, through its archived parts too. A chain may have any of the keys, which come newest first. */
export async function verifyAccessLog(
  db: Queryable,
  readKeys: ReadChainKeys,
  options: VerificationOptions = {},
): Promise<VerificationResult> {
  const { keys, registry, writers } = await readRegister(db, readKeys);
  const faults: ChainFault[] = [...numberFaults(writers), ...registryFaults(keys[0], registry, writers)];
  for (const writerId of await unregisteredWriters(db))
    faults.push({
      writerId,
      sequence: null,
      reason: 'there are entries of a writer that is not registered',
    });
  const noted = new Map(
    (options.noted ?? []).map((head) => [positionOf(head.writerId, head.sequence), head.hash]),
  );
  const log = { db, keys, readKeys, archives: await loadArchives(db, readKeys) };
  const headsGiven = noted.size;
  let entries = 0;
  for (const writer of writers) {
    const walked = await walkWriter(log, {
      writer,
      noted,
      onEntries: (n) => options.onProgress?.(entries + n),
    });
    entries += walked.entries;
    if (walked.fault !== undefined) faults.push(walked.fault);
  }
  const { archives } = log;
  const { headsInArchives, filesRead } = await settleArchives(await readKeys(db), {
    archives,
    noted,
    faults,
    folder: options.archiveFolder,
  });
  const { restores, forged } = await listRestores(db, keys);
  for (const { restoredAt } of forged)
    faults.push({
      writerId: '',
      sequence: null,
      reason: `the record of the restore of ${restoredAt.toISOString()} was changed or written by somebody else`,
    });
  const missing = (options.noted ?? []).filter((head) => noted.has(positionOf(head.writerId, head.sequence)));
  faults.push(...missing.map((head) => missingHead(head, { writers, restores })));
  return {
    ok: faults.length === 0,
    writers: writers.length,
    entries,
    archived: {
      months: [...new Set(archives.manifests.map(({ month }) => month))],
      entries: archives.manifests.reduce((sum, manifest) => sum + manifest.entries, 0),
      filesChecked: options.archiveFolder !== undefined,
      filesRead,
    },
    headsCompared: headsGiven - headsInArchives,
    headsInArchives,
    faults,
    restores,
    heads: writers.map(toHead),
  };
}

/**
 * A restore forgets what came after the backup: the ends of chains, and whole chains. It changes nothing that it leaves, and
 * explains no head that was noted later.
 */
function missingHead(
  { writerId, sequence, notedAt }: NotedHead,
  { writers, restores }: { writers: readonly WriterRow[]; restores: readonly Restore[] },
): ChainFault {
  const end = writers.find(({ id }) => id === writerId)?.lastSequence ?? 0;
  const restore = restores.find(({ restoredAt }) => notedAt === undefined || notedAt <= restoredAt);
  if (sequence <= end || restore === undefined)
    return { writerId, sequence, reason: 'a head from the earlier run is missing or differs' };
  const { restoredAt, backupTakenAt } = restore;
  const backup = backupTakenAt === null ? '' : ` to the backup of ${backupTakenAt.toISOString()}`;
  const reason = `the restore of ${restoredAt.toISOString()} put the database back${backup}, before this head was noted`;
  return { writerId, sequence, reason, restoredAt };
}

interface ArchiveCheck {
  archives: Archives;
  /** Positions that are found are taken out. */
  noted: Map<string, string>;
  /** Is added to. */
  faults: ChainFault[];
  folder: string | undefined;
}

/** Reads the files where they are given. `headsInArchives` lie in archives that were not read. */
async function settleArchives(
  keys: ChainKeys,
  check: ArchiveCheck,
): Promise<{ headsInArchives: number; filesRead: number }> {
  const { archives, noted, faults, folder } = check;
  const archiveFault = (archive: string, reason: string) =>
    faults.push({ writerId: '', sequence: null, reason, archive });
  for (const manifest of archives.broken) archiveFault(archiveName(manifest), 'its record was changed');
  if (folder !== undefined) {
    const onEntry = (entry: HashedEntry) => meet(noted, entry.writerId, entry);
    const { filesRead, faults: found } = await checkFiles(keys, folder, { archives, onEntry });
    for (const { archive, reason } of found) archiveFault(archive, reason);
    return { headsInArchives: 0, filesRead };
  }
  const inside = archives.manifests
    .filter((manifest) => !archives.broken.includes(manifest))
    .flatMap(({ runs }) => runs)
    .flatMap((run) => positionsInside(noted, run));
  for (const position of inside) noted.delete(position);
  return { headsInArchives: inside.length, filesRead: 0 };
}

function positionsInside(noted: ReadonlyMap<string, string>, run: ArchivedRun): string[] {
  return [...noted.keys()].filter((position) => {
    const [writerId, sequence] = position.split('/');
    return (
      writerId === run.writerId &&
      Number(sequence) >= run.firstSequence &&
      Number(sequence) < run.lastSequence
    );
  });
}

function positionOf(writerId: string, sequence: number): string {
  return `${writerId}/${sequence}`;
}

interface Register {
  keys: ChainKeys;
  registry: { lastNumber: number; seal: Buffer } | undefined;
  writers: WriterRow[];
}

function readRegister(db: Queryable, readKeys: ReadChainKeys): Promise<Register> {
  return readUnderKeys(db, readKeys, async (keys) => {
    // Before the writers: one that registers meanwhile is then not missed.
    const registry = await readRegistry(db);
    return { keys, registry, writers: await listWriters(db) };
  });
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
  archives: Archives;
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

interface Walked {
  entries: number;
  fault?: ChainFault;
}

/** What is read; `archives` is read again when a month was archived meanwhile, and so taken from under a walk. */
interface Log {
  db: Queryable;
  keys: ChainKeys;
  readKeys: ReadChainKeys;
  archives: Archives;
}

/**
 * A fault counts when a second walk finds it again: while a month is archived, or moves out of the default partition, a
 * statement that was planned before may miss entries that are there.
 */
async function walkWriter(log: Log, walk: Omit<Walk, 'archives'>): Promise<Walked> {
  for (let seen: string | undefined; ; ) {
    const { archives } = log;
    const walked = await walkChain(log.db, log.keys, { ...walk, archives });
    const found = JSON.stringify([walked.fault, archives.manifests.length]);
    if (walked.fault === undefined || found === seen) return walked;
    seen = found;
    log.archives = await loadArchives(log.db, log.readKeys);
  }
}

async function walkChain(db: Queryable, keys: ChainKeys, walk: Walk): Promise<Walked> {
  const { writer, archives, onEntries } = walk;
  let entries = 0;
  try {
    const { key, start } = startOf(keys, walk);
    let link = passArchives(walk, start);
    while (link.sequence < writer.lastSequence) {
      const page = await readChain(db, writer.id, { sequence: link.sequence, limit: PAGE });
      const known = page.filter(({ sequence }) => sequence <= writer.lastSequence);
      if (known.length === 0) throw new BrokenChain(link.sequence + 1, 'entries at the end were removed');
      for (const entry of known) link = passArchives(walk, nextLink(key, link, { entry, walk }));
      entries += known.length;
      onEntries(entries);
    }
    checkHead(keys[0], link, writer);
    checkTotals(await readTotals(db, writer.id), archives.entriesOf(writer.id));
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
function startOf(keys: ChainKeys, { writer, noted }: Walk): { key: Uint8Array; start: Link } {
  const { id, number, startedAt, genesisHash: hash } = writer;
  const key = keys.find((candidate) => genesisHash(candidate, id, number, startedAt).equals(hash));
  if (key === undefined) throw new BrokenChain(null, REGISTRATION_CHANGED);
  return { key, start: meet(noted, id, { sequence: 0, hash }) };
}

function nextLink(key: Uint8Array, link: Link, { entry, walk }: { entry: HashedEntry; walk: Walk }): Link {
  const { sequence } = entry;
  if (sequence <= link.sequence) throw new BrokenChain(sequence, 'an entry was inserted');
  if (sequence !== link.sequence + 1) throw new BrokenChain(link.sequence + 1, 'an entry was removed');
  const hash = entryHash(key, link.hash, entry);
  if (!hash.equals(entry.hash) || !link.hash.equals(entry.previousHash))
    throw new BrokenChain(sequence, 'an entry was changed');
  return meet(walk.noted, walk.writer.id, { sequence, hash });
}

/** Where the next entries are archived, the sealed manifest says how the chain goes on after them. */
function passArchives({ writer, archives, noted }: Walk, from: Link): Link {
  let link = from;
  for (;;) {
    const run = archives.runAt(writer.id, link.sequence + 1);
    if (run === undefined) return link;
    if (run.previousHash !== link.hash.toString('hex'))
      throw new BrokenChain(run.firstSequence, 'the archived entries do not follow the entry before them');
    link = meet(noted, writer.id, { sequence: run.lastSequence, hash: Buffer.from(run.lastHash, 'hex') });
  }
}

/** A head that was noted earlier is found where it was. */
function meet(noted: Map<string, string>, writerId: string, link: Link): Link {
  const position = positionOf(writerId, link.sequence);
  if (noted.get(position) === link.hash.toString('hex')) noted.delete(position);
  return link;
}

function checkHead(key: Uint8Array, { sequence, hash }: Link, writer: WriterRow): void {
  const sealed = headSeal(key, writer.id, sequence, hash);
  if (!hash.equals(writer.lastHash) || !sealed.equals(writer.headSeal))
    throw new BrokenChain(sequence, 'the head of the chain was changed');
}

/** The walk sees the entries that follow one another, here or in archives; there must be no others. */
function checkTotals(totals: WriterTotals | undefined, archivedEntries: number): void {
  if (totals === undefined) throw new BrokenChain(null, 'the registration was removed');
  if (totals.entries + archivedEntries !== totals.lastSequence)
    throw new BrokenChain(null, 'there are entries that are not part of the chain');
  if (totals.finerTimes) throw new BrokenChain(null, 'a time was changed');
}
