/** Lists the local codes that were met and that no map covers, most frequent first. */
import type { Queryable } from '../../platform/db/database.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { listUnmapped, type UnmappedCode, type UnmappedPosition } from './unmapped.store.ts';

export interface ListUnmappedDependencies {
  db: Queryable;
  cursors: CursorCodec;
}

export interface ListUnmappedRequest {
  /** Only of this facility; null for all of the organisation. */
  facilityId: string | null;
  place?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** One page, and the cursor of the next one; 400 for a cursor of another list. */
export async function listUnmappedCodes(
  { db, cursors }: ListUnmappedDependencies,
  scope: OrganisationScope,
  { facilityId, place, limit = 20, cursor }: ListUnmappedRequest,
): Promise<{ codes: UnmappedCode[]; nextCursor: string | null }> {
  const binding = ['terminology-unmapped', scope.organisationId, facilityId, place ?? null];
  const after = cursor === undefined ? undefined : (cursors.decode(binding, cursor) as UnmappedPosition);
  const found = await listUnmapped(db, scope, { facilityId, place, after, limit: limit + 1 });
  const codes = found.slice(0, limit);
  const last = codes.at(-1);
  if (found.length <= limit || last === undefined) return { codes, nextCursor: null };
  const position: UnmappedPosition = [last.count, last.facilityId, last.localSystem, last.localCode];
  return { codes, nextCursor: cursors.encode(binding, position) };
}

export function unmappedItem({ firstMetAt, lastMetAt, ...code }: UnmappedCode) {
  return { ...code, firstMetAt: firstMetAt.toISOString(), lastMetAt: lastMetAt.toISOString() };
}
