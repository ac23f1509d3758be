/** Lists the entries that concern a facility, its own and its organisation's, and who changed which entry, and when. */
import { type ListDependencies, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type ChangePosition, listChanges, type StoredChange } from './list-changes.store.ts';
import { type EntryPosition, entryPosition, type ListFilter, listEntries } from './list-maps.store.ts';
import type { StoredEntry } from './map.schema.ts';
import type { MapScope } from './map.store.ts';

/** 400 for a cursor of another list. */
export async function listMaps(
  { db, cursors }: ListDependencies,
  scope: MapScope,
  { limit, cursor, ...filter }: ListFilter & PageRequest,
): Promise<Page<StoredEntry>> {
  const { localSystem, localCode, targetSystem, targetCode, level, search } = filter;
  const page = openPage<EntryPosition>(cursors, { limit, cursor }, [
    'terminology-maps',
    scope.organisationId,
    scope.facilityId,
    localSystem,
    localCode,
    targetSystem,
    targetCode,
    level,
    search,
  ]);
  return page.close(await listEntries(db, scope, { filter, ...page.slice }), entryPosition);
}

/** Newest first. 400 for a cursor of another list. */
export async function listMapChanges(
  { db, cursors }: ListDependencies,
  scope: FacilityScope,
  { localCode, ...request }: PageRequest & { localCode?: string },
): Promise<Page<StoredChange>> {
  const binding = ['terminology-changes', scope.organisationId, scope.facilityId, localCode];
  const page = openPage<ChangePosition>(cursors, request, binding);
  const changes = await listChanges(db, scope, { localCode, ...page.slice });
  return page.close(changes, ({ changedAt, mapId, version }) => [changedAt.toISOString(), mapId, version]);
}
