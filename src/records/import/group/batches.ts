/** Long lists go to the database some at a time. */

const AT_ONCE = 1_000;

/** The items, 1,000 at a time. */
export function* batchesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += AT_ONCE) yield items.slice(start, start + AT_ONCE);
}

/** What `of` gives for all of the items, asked for one step after the other; nothing is asked for none. */
export async function inBatches<Item, Found>(
  items: readonly Item[],
  of: (some: readonly Item[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const some of batchesOf(items)) for (const one of await of(some)) found.push(one);
  return found;
}
