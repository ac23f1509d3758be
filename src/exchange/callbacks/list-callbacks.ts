/** Callbacks about deliveries of a facility, page by page. */
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { Reader, TracedListDependencies } from '../../privacy/authorise-access.ts';
import { traceShown } from '../review/trace-shown.ts';
import { type ListedCallback, listCallbacks } from './callback.store.ts';

export interface CallbackQuery extends PageRequest {
  connection?: string | undefined;
  outcome?: 'applied' | 'conflict' | undefined;
  status?: 'accepted' | 'rejected' | undefined;
}

/** Each patient shown is traced. `mayShow` tells of which callbacks. */
export async function listCallbackPage(
  { db, cursors, accessLog }: TracedListDependencies,
  reader: Reader,
  { connection, outcome, status, ...request }: CallbackQuery,
): Promise<Page<ListedCallback> & { mayShow: (item: ListedCallback) => boolean }> {
  const { organisationId, facilityId } = reader.scope;
  const binding = ['callbacks', organisationId, facilityId, connection, outcome, status];
  const { slice, close } = openPage<readonly [id: string]>(cursors, request, binding);
  const filter = { connectionId: connection, outcome, status, ...slice };
  const page = close(await listCallbacks(db, reader.scope, filter), ({ id }) => [id]);
  const review = { ...reader, action: 'callback.list' as const };
  return { ...page, mayShow: await traceShown(accessLog, review, page.items) };
}
