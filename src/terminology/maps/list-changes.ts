/** Lists who changed which entry of a terminology map, and when. */
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type ChangePosition, listChanges, type StoredChange } from './list-changes.store.ts';
import type { ListMapsDependencies } from './list-maps.ts';

/** One page, and the cursor of the next one; 400 for a cursor of another list. */
export async function listMapChanges(
  { db, cursors }: ListMapsDependencies,
  scope: FacilityScope,
  { localCode, limit = 20, cursor }: { localCode?: string; limit?: number; cursor?: string },
): Promise<{ changes: StoredChange[]; nextCursor: string | null }> {
  const binding = ['terminology-changes', scope.organisationId, scope.facilityId, localCode ?? null];
  const after = cursor === undefined ? undefined : (cursors.decode(binding, cursor) as ChangePosition);
  const found = await listChanges(db, scope, { localCode, after, limit: limit + 1 });
  const changes = found.slice(0, limit);
  const last = changes.at(-1);
  if (found.length <= limit || last === undefined) return { changes, nextCursor: null };
  const position: ChangePosition = [last.changedAt.toISOString(), last.mapId, last.version];
  return { changes, nextCursor: cursors.encode(binding, position) };
}
