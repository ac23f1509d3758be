/**
 * Removes what was kept long enough: organisation by organisation, in bounded batches (docs/operations.md).
 * Contract: OPS-23.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../scope.ts';
import { listOrganisations } from './organisation.store.ts';

export interface RetentionRule {
  /** What it removes, as the log and the command name it. */
  name: string;
  /** For how many days it is kept, by the clock of the database. 0: for ever. */
  days: number;
  sweep: (db: Queryable, scope: OrganisationScope, batch: RetentionBatch) => Promise<Swept>;
}

export interface RetentionBatch {
  days: number;
  /** Where the batch before ended; undefined at the beginning. */
  after: string | undefined;
  /** Rows looked at by one statement. */
  limit: number;
  /** Only count. */
  dryRun: boolean;
}

export interface Swept {
  removed: number;
  /** Where the next batch begins; undefined when nothing is left. */
  last: string | undefined;
}

export interface RetentionLimits {
  batchRows: number;
  batchesAtMost: number;
}

export const RETENTION_LIMITS: RetentionLimits = { batchRows: 1_000, batchesAtMost: 20 };

/** How much was removed, by the name of the rule. Rules that removed nothing are left out. */
export type Removed = Record<string, number>;

interface Task {
  rule: RetentionRule;
  organisationId: string;
  after: string | undefined;
}

const DAY_MS = 86_400_000;

/**
 * A sweep to be called every minute: it begins anew every day, goes on where it stopped, and rests when it is through.
 * What fails of one organisation stops no other; it is tried again with the next call, and thrown at the end of this.
 */
export function createRetentionSweep(
  db: Queryable,
  rules: readonly RetentionRule[],
  { batchRows, batchesAtMost }: RetentionLimits,
): (now: Date) => Promise<Removed> {
  let begunMs = Number.NEGATIVE_INFINITY;
  let tasks: Task[] = [];
  return async (now) => {
    if (now.getTime() - begunMs >= DAY_MS) {
      tasks = await everyTask(db, rules);
      begunMs = now.getTime();
    }
    const removed: Removed = {};
    const failed: { task: Task; error: unknown }[] = [];
    for (let batch = 0; batch < batchesAtMost; batch += 1) {
      const [task] = tasks;
      if (task === undefined) break;
      try {
        if (await step(db, task, { limit: batchRows, dryRun: false, removed })) tasks.shift();
      } catch (error) {
        tasks.shift();
        failed.push({ task, error });
      }
    }
    tasks.push(...failed.map(({ task }) => task));
    if (failed[0] !== undefined) throw failed[0].error;
    return removed;
  };
}

/** Everything that is over now, to the end; or, with `dryRun`, how much that is. */
export async function runRetention(
  db: Queryable,
  rules: readonly RetentionRule[],
  { dryRun }: { dryRun: boolean },
): Promise<Removed> {
  const removed: Removed = {};
  for (const task of await everyTask(db, rules))
    while (!(await step(db, task, { limit: RETENTION_LIMITS.batchRows, dryRun, removed })));
  return removed;
}

async function everyTask(db: Queryable, rules: readonly RetentionRule[]): Promise<Task[]> {
  const organisations = await listOrganisations(db);
  return rules
    .filter(({ days }) => days > 0)
    .flatMap((rule) => organisations.map(({ id }) => ({ rule, organisationId: id, after: undefined })));
}

/** One batch of a task; true when nothing of it is left. */
async function step(
  db: Queryable,
  task: Task,
  { limit, dryRun, removed }: { limit: number; dryRun: boolean; removed: Removed },
): Promise<boolean> {
  const { rule, organisationId, after } = task;
  const swept = await rule.sweep(db, { organisationId }, { days: rule.days, after, limit, dryRun });
  if (swept.removed > 0) removed[rule.name] = (removed[rule.name] ?? 0) + swept.removed;
  task.after = swept.last;
  return swept.last === undefined;
}
