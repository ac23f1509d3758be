/** Long lists go to the database some at a time. */

const AT_ONCE = 1_000;

/** What `of` gives for all of the items, asked for 1,000 at a time; nothing is asked for none. */
export async function inSteps<Item, Found>(
  items: readonly Item[],
  of: (some: readonly Item[]) => Promise<readonly Found[] | undefined | void>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE)
    for (const one of (await of(items.slice(start, start + AT_ONCE))) ?? []) found.push(one);
  return found;
}
