/**
 * Reads the access log organisation by organisation, a page of each at a time, and gives the entries in the order of
 * writers and sequence numbers: a chain has entries of many organisations.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type EntriesWanted, type ReadEntry, readEntries } from '../access-log/access-log-chain.store.ts';

/** Entries in memory at most, but for a small page of each organisation. */
const HELD = 20_000;
const PAGE = { min: 50, max: 5_000 };

export interface MergeOptions extends EntriesWanted {
  organisationIds: readonly string[];
  /** Told of an organisation that cannot be read any further. It ends the reading by throwing. */
  onUnread: (organisationId: string, error: unknown) => void;
}

/** The entries of one organisation that were read and not given yet; `page` from `place` on. */
interface Stream {
  organisationId: string;
  page: ReadEntry[];
  place: number;
}

export async function* mergedEntries(
  db: Queryable,
  { organisationIds, onUnread, ...wanted }: MergeOptions,
): AsyncIterable<ReadEntry> {
  const limit = Math.max(PAGE.min, Math.min(PAGE.max, Math.floor(HELD / organisationIds.length)));

  /** False when there is nothing more. */
  async function fill(stream: Stream): Promise<boolean> {
    const { organisationId, page, place } = stream;
    if (place < page.length) return true;
    if (page.length > 0 && page.length < limit) return false;
    try {
      stream.page = await readEntries(db, { organisationId }, { ...wanted, after: page.at(-1), limit });
    } catch (error) {
      onUnread(organisationId, error);
      return false;
    }
    stream.place = 0;
    return stream.page.length > 0;
  }

  /** The one whose entry is next comes last. */
  const streams: Stream[] = [];
  for (const organisationId of organisationIds) {
    const stream = { organisationId, page: [], place: 0 };
    if (await fill(stream)) insert(streams, stream);
  }
  for (let stream = streams.pop(); stream !== undefined; stream = streams.pop()) {
    yield nextOf(stream);
    stream.place += 1;
    if (await fill(stream)) insert(streams, stream);
  }
}

function nextOf({ page, place }: Stream): ReadEntry {
  return page[place] as ReadEntry;
}

function insert(streams: Stream[], stream: Stream): void {
  let [from, to] = [0, streams.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(nextOf(stream), nextOf(streams[middle] as Stream))) from = middle + 1;
    else to = middle;
  }
  streams.splice(from, 0, stream);
}

/** UUIDs come from the database in lower case, and so sort as text. */
function isBefore(one: ReadEntry, other: ReadEntry): boolean {
  if (one.writerId !== other.writerId) return one.writerId < other.writerId;
  return one.sequence < other.sequence;
}
