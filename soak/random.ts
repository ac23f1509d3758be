/** Chance that can be had again: the same seed gives the same numbers. */
export interface Random {
  /** From 0, below 1. */
  next(): number;
  /** A whole number from `min` to `max`. */
  between(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32. A name of its own gives each flow numbers of its own, whatever the others do meanwhile. */
export function createRandom(seed: number, name: string): Random {
  let state = seed;
  for (const character of name) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('There is nothing to pick from.');
      return item;
    },
  };
}
