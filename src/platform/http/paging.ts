/**
 * Lists by page: the two parameters of a call, the slice that a store reads, and the answer. A page goes on from the
 * position of its last item, so that a list stays exact and fast while records come and go.
 * Contract: FETCH-21.
 */
import type { TArrayOptions, TProperties, TSchema } from 'typebox';
import type { Queryable } from '../db/database.ts';
import { Type } from '../json-schema.ts';
import type { CursorCodec } from './cursor.ts';
import { named, schemaName } from './named-schema.ts';

export const DEFAULT_LIMIT = 20;
/** The limit of a list that is shown whole. A page reads one row more than its limit. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/** `limit` and `cursor` of a list. */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT, description: 'Items on a page.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 8000, description: 'The `nextCursor` of the previous page, unchanged.' }),
  ),
};

const NextCursor = named(
  'NextCursor',
  Type.Union([Type.String(), Type.Null()], { description: 'null on the last page.', examples: [null] }),
);

/** The answer of a list, named after its items; `more` stands beside its two members. */
export function pageSchema<Item extends TSchema, More extends TProperties = Record<never, never>>(
  item: Item,
  more?: More,
) {
  return named(
    `${schemaName(item)}Page`,
    Type.Object({
      items: Type.Array(item),
      nextCursor: NextCursor,
      ...(more as More),
    }),
  );
}

/** What a list by page answers. */
export function onePage<Item extends TSchema>(item: Item) {
  return { 200: { description: 'One page.', schema: pageSchema(item) } };
}

/** The answer of a list that is always whole, named after its items. */
export function listSchema<Item extends TSchema>(item: Item, options: TArrayOptions = {}) {
  return named(`${schemaName(item)}List`, Type.Object({ items: Type.Array(item, options) }));
}

/** What a list by page works with. */
export interface ListDependencies {
  db: Queryable;
  cursors: CursorCodec;
}

export interface PageRequest {
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** What the rows of a list are ordered by, ending in what makes it unique. */
export type Position = readonly (string | number)[];

/** What a store reads: rows after a position, at most `limit` of them. */
export interface Slice<At extends Position> {
  after?: At | undefined;
  limit: number;
}

export interface OpenPage<At extends Position> {
  /** One row more than the page holds: it tells whether there is a next page. */
  slice: Slice<At>;
  /** The page of the rows that the store found, in their order. `isCut`: more follow, however few these are. */
  close<Row>(rows: readonly Row[], positionOf: (row: Row) => At, isCut?: boolean): Page<Row>;
}

/** `binding` is everything that must be the same on the next page. Throws `bad_cursor` for a cursor of another list. */
export function openPage<At extends Position>(
  cursors: CursorCodec,
  { limit = DEFAULT_LIMIT, cursor }: PageRequest,
  binding: readonly (string | null | undefined)[],
): OpenPage<At> {
  const bound = binding.map((part) => part ?? null);
  // Only encode() makes what decode() opens, so the position has the shape that this list gave it.
  const after = cursor === undefined ? undefined : (cursors.decode(bound, cursor) as Position as At);
  return {
    slice: { after, limit: limit + 1 },
    close(rows, positionOf, isCut = false) {
      const items = rows.slice(0, limit);
      const last = isCut || rows.length > limit ? items.at(-1) : undefined;
      return { items, nextCursor: last === undefined ? null : cursors.encode(bound, positionOf(last)) };
    },
  };
}

/** All rows of a list, a page at a time: memory is bounded, and no transaction stays open between the statements. */
export async function* everyPage<Row, At extends Position>(
  limit: number,
  read: (slice: Slice<At>) => Promise<Row[]>,
  positionOf: (row: Row) => At,
): AsyncGenerator<Row[]> {
  for (let after: At | undefined; ; ) {
    const page = await read({ after, limit });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = positionOf(last);
  }
}

/** The page as JSON text, of items that are JSON text already. */
export function pageJson<Item>({ items, nextCursor }: Page<Item>, textOf: (item: Item) => string): string {
  return `{"items":[${items.map(textOf).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

/** The page with each item as the answer shows it. */
export function mapPage<Item, Shown>(page: Page<Item>, show: (item: Item) => Shown): Page<Shown> {
  return { ...page, items: page.items.map(show) };
}
