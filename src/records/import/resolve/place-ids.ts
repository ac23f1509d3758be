/**
 * Decides what each entry of a unit is stored under (docs/adr/0080). An id means what this facility has under it, so
 * that nothing depends on the records of other facilities.
 * Contract: IN-22.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { ResourceImporter } from '../map/resource-importer.ts';
import { chunks } from '../run/entry-chunks.ts';
import type { EntryReason, UnitEntry, UnitRequest } from '../run/unit.ts';
import { facilityRecordId } from './record-id.ts';

/** What a source calls a record: its id in the organisation, and whether that is a UUID of the source's own. */
export type SourceId = Pick<UnitEntry, 'id' | 'hasUuid'>;

/** The ids that a facility may have a record under; the first that is there counts. */
export function storedIds(
  importer: ResourceImporter,
  { facilityId }: FacilityScope,
  source: SourceId,
): readonly string[] {
  const { id } = source;
  return keepsId(importer, source) ? [id] : [facilityRecordId(facilityId, id), id];
}

/** True for a UUID of the source, but never for a patient: another facility may have one under the id. */
function keepsId({ lookup }: ResourceImporter, { hasUuid }: SourceId): boolean {
  return hasUuid && lookup.elsewhere === undefined;
}

/** Give every entry the id that it is stored under. Returns those whose id here another entry was given. */
export async function placeIds(db: Queryable, request: UnitRequest): Promise<EntryReason[]> {
  const { unit } = request;
  // What waited has its id: under a condition, that of another record than its source calls it.
  const open = unit.entries.filter((entry) => entry.known === undefined && !keepsId(entry.importer, entry));
  for (const [importer, entries] of Map.groupBy(open, (entry) => entry.importer))
    for (const chunk of chunks(entries)) await placeChunk(db, request, { importer, chunk });
  return open.flatMap((entry) => {
    const { type, id } = entry.target;
    const other = id === entry.id ? undefined : unit.sameRecord(type, id);
    if (other === undefined || other.target.id !== id) return [];
    const reason = `${type}.id is the id that the service gave to the record of entry ${entry.number}. Send that record once`;
    return { entry: other, reason };
  });
}

async function placeChunk(
  db: Queryable,
  { scope, reach, dryRun }: UnitRequest,
  { importer, chunk }: { importer: ResourceImporter; chunk: readonly UnitEntry[] },
): Promise<void> {
  const { lookup, table } = importer;
  const candidates = chunk.map((entry) => ({ entry, ids: storedIds(importer, scope, entry) }));
  const wanted = candidates.flatMap(({ ids }) => ids);
  await dryRun?.bring(table, wanted);
  const here = new Set(await lookup.existing(db, scope, wanted));
  const fresh: UnitEntry[] = [];
  for (const { entry, ids } of candidates) {
    const found = ids.find((id) => here.has(id));
    if (found !== undefined) entry.target.id = found;
    else fresh.push(entry);
  }
  const uuids = fresh.filter(({ hasUuid }) => hasUuid).map(({ id }) => id);
  const elsewhere =
    reach === 'facility' && uuids.length > 0 ? await lookup.elsewhere?.(db, scope, uuids) : [];
  const taken = new Set(elsewhere);
  for (const entry of fresh)
    if (!entry.hasUuid || taken.has(entry.id)) entry.target.id = facilityRecordId(scope.facilityId, entry.id);
}
