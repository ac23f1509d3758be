/** Pages of what is listed newest first, by ids that ascend with time. */
import type { CursorCodec } from '../../platform/http/cursor.ts';

export interface PageRequest {
  limit: number;
  cursor: string | undefined;
  /** Everything that must be the same on the next page. */
  binding: readonly (string | null | undefined)[];
}

/** One page of `list`, which is asked for one more than the page holds. Throws 400 for a cursor of another list. */
export async function pageOf<Item extends { id: string }>(
  cursors: CursorCodec,
  { limit, cursor, binding }: PageRequest,
  list: (page: { before: string | undefined; limit: number }) => Promise<Item[]>,
): Promise<{ items: Item[]; nextCursor: string | null }> {
  const bound = binding.map((part) => part ?? null);
  const before = cursor === undefined ? undefined : String(cursors.decode(bound, cursor)[0]);
  const found = await list({ before, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : cursors.encode(bound, [last.id]) };
}
