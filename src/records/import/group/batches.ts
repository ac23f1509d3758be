/** Long lists go to the database some at a time. */

const AT_ONCE = 1_000;

/** The items, 1,000 at a time. */
export function* batchesOf<Item>(items: Iterable<Item>): Generator<readonly Item[]> {
  let some: Item[] = [];
  for (const item of items) {
    some.push(item);
    if (some.length < AT_ONCE) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** What `of` gives for all of the items, one batch after the other. Without items, it is not called. */
export async function inBatches<Item, Found>(
  items: readonly Item[],
  of: (some: readonly Item[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const some of batchesOf(items)) for (const one of await of(some)) found.push(one);
  return found;
}
