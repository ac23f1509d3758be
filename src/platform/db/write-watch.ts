/**
 * Whether the database takes writes: asked by a write of its own, from the first refused one until one
 * succeeds.
 * Contract: HTTP-23.
 */
import type { Queryable } from './database.ts';

export interface WriteWatch {
  /** Give it every failure of a statement. */
  note(error: unknown): void;
  /** True while writes were refused, as far as is known. */
  readonly refused: boolean;
  /** Write a little. Resolves when the database took it, and rejects when not. */
  probe(db: Queryable): Promise<void>;
}

/** No room on its disk, no memory, a failing disk, a standby: what every other write may meet, too. */
const REFUSED = /^53[12]00$|^58030$|^25006$/;

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
      // 256 KiB that the file did not have: room that is left over inside a file says nothing of the disk. Truncating
      // waits for whoever reads the table, such as a backup for hours; then the file just grows.
      await db.query({
        text: `
          do $$
          begin
            begin
              perform set_config('lock_timeout', '200ms', true);
              truncate write_probe;
            exception when lock_not_available then
              null;
            end;
            insert into write_probe (filling)
            select repeat('x', 8000)
            from generate_series(1, 32);
          end $$`,
      });
      over = before;
    },
  };
}
