/** Walks the chains of the access log, reading organisation by organisation. Contract: LOG-15, LOG-21. */
import type { Queryable } from '../../platform/db/database.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';
import { type ListedWriter, listWriters } from '../access-log/access-log-chain.store.ts';
import type { ReadChainKeys } from '../archive/archive-manifest.ts';
import { loadArchives } from '../archive/check-archives.ts';
import { type ChainWalk, createWalk, type WalkContext, type WalkFinding } from './chain-walk.ts';
import { mergedEntries } from './merged-entries.ts';

/** Progress is told after so many entries. */
const PROGRESS = 5_000;

/** What is read; `archives` is read again when a month was archived meanwhile, and so taken from under a walk. */
export interface WalkedLog extends WalkContext {
  db: Queryable;
  readKeys: ReadChainKeys;
  organisationIds: readonly string[];
  /** Organisations that could not be read. */
  unread: Set<string>;
  onEntries: (entries: number) => void;
}

/**
 * A fault counts when a second walk finds it again: while a month is archived, or moves out of the default partition, a
 * statement that was planned before may miss entries that are there.
 */
export async function walkWriters(
  log: WalkedLog,
  writers: readonly ListedWriter[],
): Promise<{ findings: WalkFinding[]; strangers: string[] }> {
  const { findings, strangers } = await walkOnce(log, writers);
  for (let doubtful = faulty(findings, writers); doubtful.length > 0; ) {
    const seen = new Map(doubtful.map(({ id }) => [id, inWords(findings.get(id), log)]));
    log.archives = await loadArchives(log.db, log.readKeys);
    const again = await walkOnce(log, doubtful, { writerIds: doubtful.map(({ id }) => id) });
    for (const [id, finding] of again.findings) findings.set(id, finding);
    doubtful = faulty(again.findings, doubtful).filter(
      ({ id }) => seen.get(id) !== inWords(findings.get(id), log),
    );
  }
  return { findings: [...findings.values()], strangers };
}

function faulty(
  findings: ReadonlyMap<string, WalkFinding>,
  writers: readonly ListedWriter[],
): ListedWriter[] {
  return writers.filter(({ id }) => findings.get(id)?.fault !== undefined);
}

function inWords(finding: WalkFinding | undefined, { archives }: WalkedLog): string {
  return JSON.stringify([finding?.fault, archives.manifests.length]);
}

/** What is wrong with each of these chains, and writers of entries that are not registered. */
async function walkOnce(
  log: WalkedLog,
  writers: readonly ListedWriter[],
  only: { writerIds?: readonly string[] } = {},
): Promise<{ findings: Map<string, WalkFinding>; strangers: string[] }> {
  const { db, organisationIds, unread } = log;
  const walks = new Map<string, ChainWalk>(writers.map((writer) => [writer.id, createWalk(log, writer)]));
  const strangers = new Set<string>();
  let entries = 0;
  for await (const entry of mergedEntries(db, {
    table: 'access_log',
    organisationIds,
    ...only,
    onUnread(organisationId, error) {
      if (isWholeDatabase(error)) throw error;
      unread.add(organisationId);
    },
  })) {
    const walk = walks.get(entry.writerId);
    if (walk === undefined) strangers.add(entry.writerId);
    else walk.meet(entry);
    entries += 1;
    if (entries % PROGRESS === 0) log.onEntries(entries);
  }
  log.onEntries(entries);
  const now = new Map((await listWriters(db)).map((writer) => [writer.id, writer]));
  const findings = new Map(Array.from(walks, ([id, walk]) => [id, walk.end(now.get(id))]));
  return { findings, strangers: [...strangers].filter((id) => !now.has(id)) };
}
