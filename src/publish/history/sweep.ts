/**
 * What publishing removes over time (docs/adr/0057); safe to run on several processes at once.
 * Contract: PUB-46.
 */
import type { WorkContext } from '../../tenancy/organisations/organisation-work.ts';
import {
  createRetentionSweep,
  type RetentionLimits,
  type RetentionRule,
} from '../../tenancy/organisations/retention.ts';
import { deleteEndedLeases, eraseReplacedRuns } from './sweep.store.ts';

export interface SweepSettings extends RetentionLimits {
  /** How many days every publish stays. The publish that says what a server holds now stays for ever. */
  historyDays: number;
}

const DAY_MS = 86_400_000;
const PUBLISHES = 'publishes';

/** See {@link createRetentionSweep}. Each call returns how many publishes it erased. */
export function createPublishSweep(
  context: WorkContext,
  { historyDays, ...limits }: SweepSettings,
): (now: Date) => Promise<number> {
  const sweep = createRetentionSweep(context, [replacedRuns(historyDays), ENDED_LEASES], limits);
  return async (now) => (await sweep(now))[PUBLISHES] ?? 0;
}

function replacedRuns(days: number): RetentionRule {
  return {
    name: PUBLISHES,
    days,
    async sweep(db, scope, { now, after, limit }) {
      const before = new Date(now.getTime() - days * DAY_MS);
      const { looked, erased, last } = await eraseReplacedRuns(db, scope, { before, after, limit });
      return { removed: erased, last: looked < limit ? undefined : last };
    },
  };
}

const ENDED_LEASES: RetentionRule = {
  name: 'leases of publishes',
  days: 1,
  async sweep(db, scope, { now, days }) {
    await deleteEndedLeases(db, scope, new Date(now.getTime() - days * DAY_MS));
    return { removed: 0, last: undefined };
  },
};
