/** The hours of a facility as series of numbers. Contract: ADM-55. */
import type { Queryable } from '../../platform/db/database.ts';
import { readActivity } from '../../tenancy/activity/activity.store.ts';
import { type ActivityKind, HOUR_MS, hourOf } from '../../tenancy/activity/record-activity.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

/** What each series adds up. */
const KINDS = {
  calls: ['calls-answered', 'calls-refused', 'calls-failed'],
  'calls-refused': ['calls-refused'],
  'calls-failed': ['calls-failed'],
  publishes: ['publishes', 'publish-failures'],
  'publish-failures': ['publish-failures'],
  deliveries: ['deliveries'],
  'delivery-failures': ['delivery-failures'],
} as const satisfies Readonly<Record<string, readonly ActivityKind[]>>;
export type ActivitySeries = keyof typeof KINDS;
export const ACTIVITY_SERIES = Object.keys(KINDS) as ActivitySeries[];

export interface Activity {
  from: Date;
  to: Date;
  stepSeconds: number;
  series: { name: ActivitySeries; points: number[] }[];
}

/** The last `hours` hours, the one that runs included. */
export async function readActivitySeries(
  db: Queryable,
  scope: FacilityScope,
  { hours, now }: { hours: number; now: Date },
): Promise<Activity> {
  const to = new Date(hourOf(now).getTime() + HOUR_MS);
  const from = new Date(to.getTime() - hours * HOUR_MS);
  const counted = await readActivity(db, scope, { from, to });
  const series = ACTIVITY_SERIES.map((name) => {
    const kinds: readonly string[] = KINDS[name];
    const points = new Array<number>(hours).fill(0);
    for (const { hour, kind, count } of counted) {
      const index = Math.round((hour.getTime() - from.getTime()) / HOUR_MS);
      if (kinds.includes(kind)) points[index] = (points[index] ?? 0) + count;
    }
    return { name, points };
  });
  return { from, to, stepSeconds: HOUR_MS / 1_000, series };
}
