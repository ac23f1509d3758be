/** Proves that nothing in the access log was changed or removed. Contract: LOG-15, LOG-16. */
import type { Queryable } from '../../platform/db/database.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { type ListedWriter, listWriters, readRegistry } from '../access-log/access-log-chain.store.ts';
import { placeOf, registrySeal } from '../access-log/hash-chain.ts';
import { archiveName, type ReadChainKeys, readUnderKeys } from '../archive/archive-manifest.ts';
import { checkFiles, loadArchives } from '../archive/check-archives.ts';
import { meetNoted, REGISTRATION_CHANGED, type WalkFinding } from './chain-walk.ts';
import { organisationsOfLog } from './log-organisations.store.ts';
import { listRestores, type Restore } from './restore.store.ts';
import { type WalkedLog, walkWriters } from './walk-chains.ts';

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
  /** Ids of organisations whose entries the database refused to read. */
  organisationsUnread: string[];
  /** Entries that were not read for that reason. */
  entriesUnread: number;
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

/**
 * Walk every chain, through its archived parts too, reading organisation by organisation. A chain may have any of the keys,
 * which come newest first. An organisation that cannot be read leaves gaps in the chains; all else is checked.
 */
export async function verifyAccessLog(
  db: Queryable,
  readKeys: ReadChainKeys,
  options: VerificationOptions = {},
): Promise<VerificationResult> {
  const { keys, registry, writers } = await readRegister(db, readKeys);
  const faults: ChainFault[] = [...numberFaults(writers), ...registryFaults(keys[0], registry, writers)];
  const given = Map.groupBy(options.noted ?? [], (head) => placeOf(head.writerId, head.sequence));
  const noted = new Map(Array.from(given, ([place, heads]) => [place, hashNotedIn(heads)]));
  const headsGiven = noted.size;
  const log: WalkedLog = {
    db,
    keys,
    readKeys,
    noted,
    archives: await loadArchives(db, readKeys),
    organisationIds: await organisationsOfLog(db),
    unread: new Set(),
    onEntries: options.onProgress ?? (() => undefined),
  };
  const { findings, strangers } = await walkWriters(log, writers);
  const unregistered = 'there are entries of a writer that is not registered';
  faults.push(
    ...strangers.map((id) => faultOf(id, unregistered)),
    ...findings.flatMap(({ fault }) => fault ?? []),
  );
  const { headsInArchives, filesRead, faults: inArchives } = await settleArchives(log, options.archiveFolder);
  faults.push(...inArchives);
  const { restores, forged } = await readUnderKeys(db, readKeys, ([newest]) => listRestores(db, newest));
  faults.push(...forged.map(forgedFault));
  const missing = [...given].flatMap(([place, heads]) => (noted.has(place) ? heads.slice(0, 1) : []));
  // One that is missing may be of an entry that could not be read.
  if (log.unread.size === 0) faults.push(...missing.map((head) => missingHead(head, { writers, restores })));
  const { manifests } = log.archives;
  const sum = (read: (finding: WalkFinding) => number) =>
    findings.reduce((total, finding) => total + read(finding), 0);
  return {
    ok: faults.length === 0 && log.unread.size === 0,
    writers: writers.length,
    entries: sum(({ entries }) => entries),
    archived: {
      months: [...new Set(manifests.map(({ month }) => month))],
      entries: manifests.reduce((total, manifest) => total + manifest.entries, 0),
      filesChecked: options.archiveFolder !== undefined,
      filesRead,
    },
    headsCompared: headsGiven - headsInArchives,
    headsInArchives,
    faults,
    restores,
    organisationsUnread: [...log.unread],
    entriesUnread: sum(({ unread }) => unread),
    heads: writers.map(toHead),
  };
}

/** Heads of one place that differ cannot all be right. The empty hash fits no entry, so the place is told as missing. */
function hashNotedIn([first, ...others]: readonly NotedHead[]): string {
  return first !== undefined && others.every(({ hash }) => hash === first.hash) ? first.hash : '';
}

/** Of a chain as a whole, or of none where the writer is empty. */
function faultOf(writerId: string, reason: string): ChainFault {
  return { writerId, sequence: null, reason };
}

function forgedFault({ restoredAt }: Restore): ChainFault {
  const when = restoredAt.toISOString();
  return faultOf('', `the record of the restore of ${when} was changed or written by somebody else`);
}

/**
 * A restore forgets what came after the backup: the ends of chains, and whole chains. It changes nothing that it leaves, and
 * explains no head that was noted later.
 */
function missingHead(
  { writerId, sequence, notedAt }: NotedHead,
  { writers, restores }: { writers: readonly ListedWriter[]; restores: readonly Restore[] },
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

/** Reads the files where they are given. `headsInArchives` lie in archives that were not read. */
async function settleArchives(
  { archives, noted, db, readKeys }: WalkedLog,
  folder: string | undefined,
): Promise<{ headsInArchives: number; filesRead: number; faults: ChainFault[] }> {
  const faults = archives.manifests
    .filter((manifest) => !archives.good.includes(manifest))
    .map((manifest) => archiveFault({ archive: archiveName(manifest), reason: 'its record was changed' }));
  if (folder !== undefined) {
    const onEntry = (entry: HashedEntry) => meetNoted(noted, entry.writerId, entry);
    const found = await checkFiles(await readKeys(db), folder, { archives, onEntry });
    faults.push(...found.faults.map(archiveFault));
    return { headsInArchives: 0, filesRead: found.filesRead, faults };
  }
  const runs = archives.good.flatMap((manifest) => manifest.runs);
  const inside = [...noted.keys()].filter((place) => {
    const [writerId, number] = place.split('/');
    const sequence = Number(number);
    return runs.some(
      (run) => run.writerId === writerId && sequence >= run.firstSequence && sequence < run.lastSequence,
    );
  });
  for (const place of inside) noted.delete(place);
  return { headsInArchives: inside.length, filesRead: 0, faults };
}

function archiveFault({ archive, reason }: { archive: string; reason: string }): ChainFault {
  return { ...faultOf('', reason), archive };
}

function readRegister(db: Queryable, readKeys: ReadChainKeys) {
  return readUnderKeys(db, readKeys, async (keys) => {
    // Before the writers: one that registers meanwhile is then not missed.
    const registry = await readRegistry(db);
    return { keys, registry, writers: await listWriters(db) };
  });
}

function toHead(writer: ListedWriter) {
  return {
    writerId: writer.id,
    number: writer.number,
    sequence: writer.lastSequence,
    hash: writer.lastHash.toString('hex'),
  };
}

function numberFaults(writers: readonly ListedWriter[]): ChainFault[] {
  return writers.flatMap((writer, index) =>
    writer.number === index + 1 || writer.number === (writers[index - 1]?.number ?? 0) + 1
      ? []
      : faultOf(writer.id, 'a writer registered before this one was removed'),
  );
}

function registryFaults(
  key: Uint8Array,
  registry: { lastNumber: number; seal: Buffer } | undefined,
  writers: readonly ListedWriter[],
): ChainFault[] {
  const last = writers.at(-1);
  const fault = (reason: string) => [faultOf(last?.id ?? '', reason)];
  if (registry === undefined) return last === undefined ? [] : fault('the register of writers was removed');
  if (!registrySeal(key, registry.lastNumber).equals(registry.seal)) return fault(REGISTRATION_CHANGED);
  return (last?.number ?? 0) < registry.lastNumber ? fault('the writer registered last was removed') : [];
}
