/** Callbacks about deliveries of a facility, page by page. */
import type { Pool } from '../../platform/db/database.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import type { Reader } from '../../privacy/authorise-access.ts';
import { pageOf } from '../review/page.ts';
import { traceShown } from '../review/trace-shown.ts';
import { type ListedCallback, listCallbacks } from './callback.store.ts';

export interface CallbackQuery {
  connection?: string | undefined;
  outcome?: 'applied' | 'conflict' | undefined;
  status?: 'accepted' | 'rejected' | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Each patient shown is traced. `mayShow` tells of which callbacks. */
export async function listCallbackPage(
  { db, cursors, accessLog }: { db: Pool; cursors: CursorCodec; accessLog: AccessLog },
  reader: Reader,
  { connection, outcome, status, limit, cursor }: CallbackQuery,
): Promise<{
  items: ListedCallback[];
  nextCursor: string | null;
  mayShow: (item: ListedCallback) => boolean;
}> {
  const { organisationId, facilityId } = reader.scope;
  const binding = ['callbacks', organisationId, facilityId, connection, outcome, status];
  const page = await pageOf(cursors, { limit, cursor, binding }, (position) =>
    listCallbacks(
      db,
      { organisationId, facilityId },
      { connectionId: connection, outcome, status, ...position },
    ),
  );
  const review = { ...reader, accountId: reader.caller.accountId, action: 'callback.list' as const };
  return { ...page, mayShow: await traceShown(accessLog, review, page.items) };
}
