/**
 * What publishing removes over time (docs/adr/0057); safe to run on several processes at once.
 * Contract: PUB-46.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { deleteEndedLeases, eraseReplacedRuns, type SweepPosition } from './sweep.store.ts';

export interface SweepSettings {
  /** How many days every publish stays. The publish that says what a server holds now stays for ever. */
  historyDays: number;
  /** Publishes looked at by one statement. */
  batchRows: number;
  batchesAtMost: number;
}

export const SWEEP: Omit<SweepSettings, 'historyDays'> = { batchRows: 1_000, batchesAtMost: 20 };

const DAY_MS = 86_400_000;
const START: SweepPosition = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/**
 * A sweep that continues where it stopped and begins again every day, so that it looks at what stays once a day and not
 * every minute. Each call returns how many publishes it erased.
 */
export function createPublishSweep(db: Queryable, settings: SweepSettings): (now: Date) => Promise<number> {
  let position = START;
  let begunMs = 0;
  return async (now) => {
    if (now.getTime() - begunMs >= DAY_MS) {
      position = START;
      begunMs = now.getTime();
      await deleteEndedLeases(db, new Date(begunMs - DAY_MS));
    }
    const before = new Date(now.getTime() - settings.historyDays * DAY_MS);
    let erased = 0;
    for (let count = 0; count < settings.batchesAtMost; count += 1) {
      const batch = await eraseReplacedRuns(db, { before, after: position, limit: settings.batchRows });
      erased += batch.erased;
      position = batch.last ?? position;
      if (batch.looked < settings.batchRows) break;
    }
    return erased;
  };
}
