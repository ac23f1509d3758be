import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursorCodec } from './cursor.ts';
import { DEFAULT_LIMIT, mapPage, openPage, type Position } from './paging.ts';

const cursors = createCursorCodec(randomBytes(32));
type NumberAndName = readonly [number: number, name: string];

/** What a store does: the rows after a position, at most so many. */
function rowsAfter(rows: readonly NumberAndName[], after: NumberAndName | undefined, limit: number) {
  const begin = after === undefined ? 0 : rows.findIndex((row) => compare(row, after) > 0);
  return begin === -1 ? [] : rows.slice(begin, begin + limit);
}

function compare([a, x]: NumberAndName, [b, y]: NumberAndName): number {
  return a - b || (x < y ? -1 : x > y ? 1 : 0);
}

test('pages of any size give every row once, in order, and only the last may be short', () => {
  const rows = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.string({ maxLength: 3 })), {
    maxLength: 40,
    selector: (row) => JSON.stringify(row),
  });
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 9 }), (given, limit) => {
      const sorted = given.toSorted(compare);
      const seen: NumberAndName[] = [];
      let cursor: string | undefined;
      do {
        const page = openPage<NumberAndName>(cursors, { limit, cursor }, ['list']);
        const { items, nextCursor } = page.close(
          rowsAfter(sorted, page.slice.after, page.slice.limit),
          (row) => row,
        );
        seen.push(...items);
        assert.ok(nextCursor === null ? items.length <= limit : items.length === limit);
        cursor = nextCursor ?? undefined;
      } while (cursor !== undefined);
      assert.deepEqual(seen, sorted);
    }),
  );
});

test('without a limit a page holds twenty items', () => {
  const page = openPage(cursors, {}, ['list']);
  const { items, nextCursor } = page.close([...Array(page.slice.limit).keys()], (index) => [index]);
  assert.equal(items.length, DEFAULT_LIMIT);
  assert.notEqual(nextCursor, null);
});

test('a cursor holds only for the list that gave it; an absent filter is not an empty one', () => {
  const first = openPage(cursors, { limit: 1 }, ['list', undefined]);
  const cursor = first.close([1, 2], (index) => [index]).nextCursor ?? '';
  assert.deepEqual(openPage(cursors, { cursor }, ['list', null]).slice.after, [1] satisfies Position);
  for (const binding of [['list', ''], ['list'], ['other', null]])
    assert.throws(() => openPage(cursors, { cursor }, binding), { code: 'bad_cursor' });
  assert.throws(() => openPage(cursors, { cursor: `${cursor}A` }, ['list', null]), { code: 'bad_cursor' });
});

test('what an answer shows of the items keeps the cursor', () => {
  assert.deepEqual(mapPage({ items: [1, 2], nextCursor: 'x' }, String), {
    items: ['1', '2'],
    nextCursor: 'x',
  });
});
