/**
 * Removes what was kept long enough: organisation by organisation, in bounded batches (docs/operations.md).
 * Contract: OPS-23.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../scope.ts';
import { listOrganisations } from './organisation.store.ts';
import { forEachOrganisation, type WorkContext } from './organisation-work.ts';

const DAY_MS = 86_400_000;

export interface RetentionRule {
  /** What it removes, as the log and the command name it. */
  name: string;
  /** For how many days it is kept, by the clock of the database. 0: for ever. */
  days: number;
  sweep: (db: Queryable, scope: OrganisationScope, batch: RetentionBatch) => Promise<Swept>;
}

export interface RetentionBatch {
  days: number;
  /** The time of the database when the sweep began. */
  now: Date;
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

interface OverdueRows {
  name: string;
  days: number;
  table: string;
  /** Columns that a row of an organisation is found by. */
  key: readonly string[];
  /** SQL that a row `t` is over; `$1` is the organisation, and what is older than `$2` is kept long enough. */
  isOver: string;
}

/** What is over is gone after a batch, so the next one begins where this one did. */
export function removeOverdue({ name, days, table, key, isOver }: OverdueRows): RetentionRule {
  const over = `t.organisation_id = $1 and (${isOver})`;
  const count = `select count(*)::integer as removed from ${table} t where ${over}`;
  // Locked: a row may get a later time while it is being removed.
  const remove = `
    with over as materialized (
      select ${key.join(', ')}
      from ${table} t
      where ${over}
      limit $3
      for update of t skip locked
    ), removed as (
      delete from ${table} t
      using over o
      where t.organisation_id = $1
        and ${key.map((column) => `t.${column} = o.${column}`).join(' and ')}
      returning 1
    )
    select count(*)::integer as removed
    from removed`;
  return {
    name,
    days,
    sweep: async (db, { organisationId }, batch) => {
      const { rows } = await db.query<{ removed: number }>({
        text: batch.dryRun ? count : remove,
        values: [organisationId, cutoff(batch), ...(batch.dryRun ? [] : [batch.limit])],
      });
      const removed = rows[0]?.removed ?? 0;
      return { removed, last: !batch.dryRun && removed === batch.limit ? 'more' : undefined };
    },
  };
}

/** What is older was kept long enough. */
export function cutoff({ now, days }: Pick<RetentionBatch, 'now' | 'days'>): Date {
  return new Date(now.getTime() - days * DAY_MS);
}

export interface RetentionLimits {
  batchRows: number;
  batchesAtMost: number;
}

export const RETENTION_LIMITS: RetentionLimits = { batchRows: 1_000, batchesAtMost: 20 };

/** How much was removed, by the name of the rule. Rules that removed nothing are left out. */
export type Removed = Record<string, number>;

/** What is left to be done for an organisation, in turn. */
interface Task {
  rule: RetentionRule;
  after: string | undefined;
}

/**
 * The last batch of a rule counts as the part of a full one that it removed, and as this part at least. Most rules find nothing
 * on most days: if that counted as a full batch, a day would be over after a few thousand organisations.
 */
const LEAST_OF_BATCH = 0.01;

/**
 * A sweep to be called every minute: it begins anew every day, goes on where it stopped, and rests when it is through.
 * What fails for one organisation stops no other, and is tried again with a later call.
 */
export function createRetentionSweep(
  context: WorkContext,
  rules: readonly RetentionRule[],
  { batchRows, batchesAtMost }: RetentionLimits,
): (now: Date) => Promise<Removed> {
  let begunMs = Number.NEGATIVE_INFINITY;
  let left: Tasks = new Map();
  return async (now) => {
    // A clock that was months ahead and is right again would else keep it from beginning for months.
    if (Math.abs(now.getTime() - begunMs) >= DAY_MS) {
      left = await everyTask(context.db, rules);
      begunMs = now.getTime();
    }
    return doTasks(context, left, { now, limit: batchRows, dryRun: false, batchesAtMost });
  };
}

/** Everything that is over now, to the end; or, with `dryRun`, how much that is. */
export async function runRetention(
  context: WorkContext,
  rules: readonly RetentionRule[],
  { dryRun }: { dryRun: boolean },
): Promise<Removed> {
  const limit = RETENTION_LIMITS.batchRows;
  const now = await readDatabaseTime(context.db);
  const every = await everyTask(context.db, rules);
  return doTasks(context, every, { now, limit, dryRun, batchesAtMost: Number.POSITIVE_INFINITY });
}

/** What is left to be done, by organisation. */
type Tasks = Map<string, Task[]>;

async function everyTask(db: Queryable, rules: readonly RetentionRule[]): Promise<Tasks> {
  const organisations = await listOrganisations(db);
  const used = rules.filter(({ days }) => days > 0);
  return new Map(organisations.map(({ id }) => [id, used.map((rule) => ({ rule, after: undefined }))]));
}

/** What is done is taken out of `left`. */
async function doTasks(
  { db, work }: WorkContext,
  left: Tasks,
  { batchesAtMost, ...batch }: Pick<RetentionBatch, 'now' | 'limit' | 'dryRun'> & { batchesAtMost: number },
): Promise<Removed> {
  const removed: Removed = {};
  let batches = batchesAtMost;
  await forEachOrganisation(work, [...left.keys()], async (organisationId) => {
    const tasks = left.get(organisationId) ?? [];
    if (batches <= 0) return false;
    for (let [task] = tasks; task !== undefined && batches > 0; [task] = tasks) {
      batches -= 1;
      // At the end until it succeeds, so that the others come first when it fails.
      tasks.push(...tasks.splice(0, 1));
      const { rule, after } = task;
      const swept = await rule.sweep(db, { organisationId }, { ...batch, days: rule.days, after });
      if (swept.removed > 0) removed[rule.name] = (removed[rule.name] ?? 0) + swept.removed;
      task.after = swept.last;
      tasks.pop();
      if (swept.last === undefined) batches += 1 - Math.max(LEAST_OF_BATCH, swept.removed / batch.limit);
      else tasks.unshift(task);
    }
    if (tasks.length === 0) left.delete(organisationId);
    return undefined;
  });
  return removed;
}
