/** Callbacks about deliveries of a facility, page by page. */
import type { Pool } from '../platform/db/database.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { type ListedCallback, listCallbacks } from './callback.store.ts';
import { pageOf } from './page.ts';

export interface CallbackQuery {
  connection?: string | undefined;
  outcome?: 'applied' | 'conflict' | undefined;
  limit: number;
  cursor?: string | undefined;
}

export function listCallbackPage(
  { db, cursors }: { db: Pool; cursors: CursorCodec },
  { organisationId, facilityId }: FacilityScope,
  { connection, outcome, limit, cursor }: CallbackQuery,
): Promise<{ items: ListedCallback[]; nextCursor: string | null }> {
  const binding = ['callbacks', organisationId, facilityId, connection, outcome];
  return pageOf(cursors, { limit, cursor, binding }, (page) =>
    listCallbacks(db, { organisationId, facilityId }, { connectionId: connection, outcome, ...page }),
  );
}
