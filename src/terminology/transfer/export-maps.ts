/** Writes one map, the organisation's or a facility's, as text, in bounded memory. Contract: TERM-14. */
import type { Queryable } from '../../platform/db/database.ts';
import { everyPage, type Slice } from '../../platform/http/paging.ts';
import { type EntryPosition, entryPosition, listEntries, listGroups } from '../maps/list-maps.store.ts';
import type { MapScope } from '../maps/map.store.ts';
import type { MapEntry } from '../maps/map-entry.ts';
import { conceptMapText, type MapGroup } from './concept-map.fhir.ts';
import { csvText } from './csv-maps.ts';

const ENTRIES_IN_PAGE = 1_000;

export const EXPORT_FORMATS = {
  csv: { contentType: 'text/csv; charset=utf-8', fileName: 'terminology-maps.csv' },
  conceptmap: { contentType: 'application/fhir+json', fileName: 'terminology-maps.json' },
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** What {@link importMaps} reads back to the same map. */
export async function exportMaps(
  db: Queryable,
  scope: MapScope,
  format: ExportFormat,
): Promise<AsyncIterable<string>> {
  const found = await listGroups(db, scope);
  const groups: MapGroup[] = found.map((group) => ({ ...group, pages: pagesOf(db, scope, group) }));
  if (format === 'csv')
    return csvText(concatenated(groups), { withRelation: found.some((group) => group.hasRelation) });
  const owner = scope.facilityId === null ? 'organisation' : 'facility';
  return conceptMapText(
    { url: `urn:uuid:${scope.facilityId ?? scope.organisationId}`, title: `Terminology map of the ${owner}` },
    groups,
  );
}

async function* concatenated(groups: Iterable<MapGroup>): AsyncGenerator<MapEntry[]> {
  for (const group of groups) yield* group.pages;
}

function pagesOf(
  db: Queryable,
  scope: MapScope,
  { localSystem, targetSystem }: { localSystem: string; targetSystem: string },
): AsyncIterable<MapEntry[]> {
  const level = scope.facilityId === null ? 'organisation' : 'facility';
  const filter = { localSystem, targetSystem, level } as const;
  const read = (slice: Slice<EntryPosition>) => listEntries(db, scope, { ...slice, filter });
  return everyPage(ENTRIES_IN_PAGE, read, entryPosition);
}
