/** Notes which records miss an optional referenced record, each time that they are written. Contract: IN-37. */
import type { IncompleteRecord } from '../map/map-resources.ts';
import type { MappedRecord, ResourceImporter, WriteContext, WriteResult } from '../map/resource-importer.ts';
import { rowDigest } from '../write/write-records.ts';
import { lockUnchanged, lockWaiting, removeWaitsOf, writeWaits } from './waiting.store.ts';

type Destination = Pick<WriteContext, 'client' | 'scope'>;

/**
 * Those of the rows that still wait as this import left them, which is about to take them once more. What another
 * import has written or joined meanwhile is left as it is.
 */
export async function stillWaiting(
  { client, scope }: Destination,
  importer: ResourceImporter,
  { rows, runId }: { rows: readonly MappedRecord[]; runId: string },
): Promise<readonly MappedRecord[]> {
  if (rows.length === 0) return rows;
  const ids = rows.map(({ id }) => id);
  const waiting = await lockWaiting(client, scope, { ...importer, ids });
  const own = new Set(
    waiting.filter((record) => record.current && record.runId === runId).map(({ id }) => id),
  );
  return rows.filter(({ id }) => own.has(id));
}

/**
 * Remember which of the written records miss a referenced record, and which do not any more. What was found unchanged is not
 * locked: where another import has written it since, that one has said what it waits for.
 */
export async function noteWaits(
  { client, scope }: Destination,
  importer: ResourceImporter,
  {
    rows,
    result,
    incomplete: missing,
    runId,
  }: {
    rows: readonly MappedRecord[];
    result: WriteResult;
    incomplete: readonly IncompleteRecord[];
    runId: string;
  },
): Promise<void> {
  const changed = new Set([...result.created, ...result.updated]);
  // What a newer version with the same content waits for stays: it is not replaced by what an older one missed.
  const unchanged = new Set(result.unchanged).difference(new Set(result.overtaken));
  const incomplete = new Map(missing.map((record) => [record.entry.target.id, record]));
  const found = rows.flatMap((row) => (unchanged.has(row.id) ? { id: row.id, digest: rowDigest(row) } : []));
  const standing = await lockUnchanged(
    client,
    scope,
    importer,
    found.filter(({ id }) => incomplete.has(id)),
  );
  const waits = rows.flatMap((row) => {
    const record = incomplete.get(row.id);
    if (record === undefined || !(changed.has(row.id) || standing.has(row.id))) return [];
    const { entry, resource, referenced, known } = record;
    return {
      id: row.id,
      sourceId: entry.id,
      hasUuid: entry.hasUuid,
      content: JSON.stringify(resource),
      known,
      digest: rowDigest(row),
      names: referenced.map(({ name }) => name),
    };
  });
  const { type } = importer;
  const complete = found.filter(({ id }) => !incomplete.has(id));
  if (complete.length > 0) await removeWaitsOf(client, scope, type, complete);
  await writeWaits(client, scope, { type, runId, ids: [...changed], waits });
}
