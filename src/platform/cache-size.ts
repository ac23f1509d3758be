/**
 * For an LRUCache of at most so many entries. Its own `max` has it set aside room for all of them at once: 10 ms of each
 * start for a hundred thousand.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
