/** Whether the database takes writes: asked by a write of its own, from the first refused one until one succeeds. */
import type { Queryable } from './database.ts';

export interface WriteWatch {
  /** Give it every failure of a statement. */
  note(error: unknown): void;
  /** True while writes were refused, as far as is known. */
  readonly refused: boolean;
  /** Write a little. Resolves when the database took it, and rejects when not. */
  probe(db: Queryable): Promise<void>;
}

/** No room on its disk, a failing disk, a standby: what every other write would meet, too. */
const REFUSED = /^53100$|^58030$|^25006$/;

export function createWriteWatch(): WriteWatch {
  let refusals = 0;
  let over = 0;
  return {
    note(error) {
      if (REFUSED.test(String((error as { code?: unknown }).code))) refusals += 1;
    },
    get refused() {
      return refusals > over;
    },
    async probe(db) {
      const before = refusals;
      // A new file of 256 KiB: room that is left over inside a file says nothing of the disk.
      await db.query({
        text: `
          truncate write_probe;
          insert into write_probe (filling)
          select repeat('x', 8000)
          from generate_series(1, 32)`,
      });
      over = before;
    },
  };
}
