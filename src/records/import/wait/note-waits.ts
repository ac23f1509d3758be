/** Notes which records miss an optional referenced record, each time that they are written. Contract: IN-37. */
import type { IncompleteRecord } from '../map/map-resources.ts';
import type { MappedRecord, ResourceImporter, WriteContext, WriteResult } from '../map/resource-importer.ts';
import { rowDigest } from '../write/write-records.ts';
import { lockWaiting, writeWaits } from './waiting.store.ts';

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

/** Remember which of the written records miss a referenced record, and which do not any more. */
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
  const changed = [...result.created, ...result.updated];
  // What a newer version with the same content waits for stays: it is not replaced by what an older one missed.
  const stand = new Set([...changed, ...result.unchanged]).difference(new Set(result.overtaken));
  const incomplete = missing.filter(({ entry }) => stand.has(entry.target.id));
  for (const { entry } of incomplete) stand.delete(entry.target.id);
  const written = new Map(rows.map((row) => [row.id, row]));
  const waits = incomplete.flatMap(({ entry, resource, referenced, known }) => {
    const row = written.get(entry.target.id);
    if (row === undefined) return [];
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
  const ids = [...new Set([...changed, ...stand])];
  await writeWaits(client, scope, { type: importer.type, runId, ids, waits });
}
