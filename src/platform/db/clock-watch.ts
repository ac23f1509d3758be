/**
 * Compares the clock of this process with the database's, at start and while it runs (docs/adr/0091).
 * Contract: OPS-20.
 */
import type { Queryable } from './database.ts';
import { type DatabaseTime, readDatabaseTime } from './database-time.ts';

export interface ClockWatch {
  /** Compare now. Resolves to the time of the database. */
  compare(): Promise<Date>;
  /** True while the clock of this process was further off than allowed when it was compared last. */
  isOff(): boolean;
  /** Seconds by which the clock of this process is ahead; negative when it is behind. */
  aheadSeconds(): number;
  close(): void;
}

export interface ClockWatchOptions {
  db: Queryable;
  /** The clock of this process. */
  now: () => Date;
  databaseTime: () => DatabaseTime;
  maxSkewSeconds: number;
  /** Called when the clock turns out to be off, and when it is right again. */
  onChange: (watch: Pick<ClockWatch, 'isOff' | 'aheadSeconds'>) => void;
}

const COMPARE_MS = 10_000;

/** Compares once before it resolves, then every ten seconds. */
export async function watchClock(options: ClockWatchOptions): Promise<ClockWatch> {
  let off = false;
  let aheadMs = 0;

  async function compare(): Promise<Date> {
    const sent = options.now().getTime();
    const databaseNow = await readDatabaseTime(options.db, options.databaseTime());
    const received = options.now().getTime();
    const atLeastAheadMs = sent - databaseNow.getTime();
    const atMostAheadMs = received - databaseNow.getTime();
    aheadMs = (atLeastAheadMs + atMostAheadMs) / 2;
    // A slow answer leaves it open when the database looked at its clock: it is off only when it surely is.
    const limitMs = options.maxSkewSeconds * 1_000;
    const isOff = atLeastAheadMs > limitMs || atMostAheadMs < -limitMs;
    if (isOff !== off) {
      off = isOff;
      options.onChange(watch);
    }
    return databaseNow;
  }

  const watch: Pick<ClockWatch, 'isOff' | 'aheadSeconds'> = {
    isOff: () => off,
    aheadSeconds: () => aheadMs / 1_000,
  };
  await compare();
  // A database that does not answer says nothing about the clock.
  const timer = setInterval(() => void compare().catch(() => undefined), COMPARE_MS).unref();
  return { ...watch, compare, close: () => clearInterval(timer) };
}
