/**
 * Lets at most so many pieces of work run at once; the others wait their turn, first come first.
 * Contract: PUB-56.
 */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimit(max: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // A place is handed on, not given back, while someone waits; after what the work came to has been seen.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else setImmediate(next);
    }
  };
}
