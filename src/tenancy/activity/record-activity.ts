/**
 * Counts by the hour what happens at each facility, for the overview (docs/adr/0144). Gathered in memory.
 * Contract: ADM-56.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { createHeldCounts, type HeldCount, type HeldCountsOptions } from '../organisations/held-counts.ts';
import { addActivity } from './activity.store.ts';

/** Calls are counted by the class of their answer. */
export const ACTIVITY_KINDS = [
  'calls-answered',
  'calls-refused',
  'calls-failed',
  'publishes',
  'publish-failures',
  'deliveries',
  'delivery-failures',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

export interface ActivityRecorder {
  /** Count one; returns at once. */
  note(facility: { organisationId: string; facilityId: string }, kind: ActivityKind): void;
  flush(): Promise<void>;
  /** Stop the timer and write what is held. */
  close(): Promise<void>;
}

export interface ActivityRecorderOptions extends Pick<HeldCountsOptions<HeldActivity>, 'work' | 'onError'> {
  db: Queryable;
  now: () => Date;
}

interface HeldActivity extends HeldCount {
  facilityId: string;
  hour: Date;
  kind: ActivityKind;
}

const FLUSH_AFTER_MS = 5_000;
const MAX_HELD = 50_000;
export const HOUR_MS = 3_600_000;

export function createActivityRecorder({
  db,
  now,
  work,
  onError,
}: ActivityRecorderOptions): ActivityRecorder {
  const counts = createHeldCounts<HeldActivity>({
    keyOf: ({ organisationId, facilityId, hour, kind }) =>
      `${organisationId} ${facilityId} ${hour.getTime()} ${kind}`,
    write: (organisationId, items) => addActivity(db, { organisationId }, items),
    flushAfterMs: FLUSH_AFTER_MS,
    maxHeld: MAX_HELD,
    work,
    onError,
  });
  return {
    note({ organisationId, facilityId }, kind) {
      counts.hold({ organisationId, facilityId, hour: hourOf(now()), kind, count: 1 });
    },
    flush: counts.flush,
    close: counts.close,
  };
}

/** When the hour of a time began. */
export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
}
