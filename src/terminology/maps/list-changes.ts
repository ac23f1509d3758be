/** Lists who changed which entry of a terminology map, and when. */
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type ChangePosition, listChanges, type StoredChange } from './list-changes.store.ts';
import type { ListMapsDependencies } from './list-maps.ts';

/** 400 for a cursor of another list. */
export async function listMapChanges(
  { db, cursors }: ListMapsDependencies,
  scope: FacilityScope,
  { localCode, ...request }: PageRequest & { localCode?: string },
): Promise<Page<StoredChange>> {
  const binding = ['terminology-changes', scope.organisationId, scope.facilityId, localCode];
  const page = openPage<ChangePosition>(cursors, request, binding);
  const changes = await listChanges(db, scope, { localCode, ...page.slice });
  return page.close(changes, ({ changedAt, mapId, version }) => [changedAt.toISOString(), mapId, version]);
}
