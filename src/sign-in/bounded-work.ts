/** Work that runs a few at a time and waits in a short queue; what does not fit is refused at once. */

export interface BoundedWork {
  /** Run when a place is free. Throws what `overloaded` makes when the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Throws like `run` when there is no place left; takes none. */
  assertCapacity(): void;
}

export interface BoundedWorkOptions {
  /** Running at once. */
  concurrency: number;
  /** Waiting at most. */
  queue: number;
  overloaded: () => Error;
}

export function createBoundedWork({ concurrency, queue, overloaded }: BoundedWorkOptions): BoundedWork {
  const waiting: (() => void)[] = [];
  let running = 0;

  function assertCapacity(): void {
    if (running >= concurrency && waiting.length >= queue) throw overloaded();
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    assertCapacity();
    if (running >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The place passes to the one that waited longest; it never looks free in between.
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return { run, assertCapacity };
}
