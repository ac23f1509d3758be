/**
 * Waits for a lock in short turns. Whoever uses a table that a statement waits for waits behind it, so a long wait stops
 * every call on that table. Between the turns the others pass.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** SQLSTATEs of a lock that somebody else holds. */
export const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
const PAUSE_MS = 1_000;

/**
 * Do `work`, a transaction with a `lock_timeout` of its own, until it gets its locks. After so many `turns` throws what
 * `giveUp` makes of the last failure; any other failure at once.
 */
export async function inLockTurns<T>(
  { turns, giveUp }: { turns: number; giveUp: (cause: unknown) => Error },
  work: () => Promise<T>,
): Promise<T> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error;
      if (turn === turns) throw giveUp(error);
      await sleep(PAUSE_MS);
    }
  }
}
