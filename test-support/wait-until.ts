/** Waits for what real processes bring about. Nothing else in the tests waits for a clock. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../src/platform/db/database.ts';

/**
 * The first value that `look` gives other than false and undefined. Fails, with the name of what is waited for, when
 * there is none within two minutes.
 */
export async function waitUntil<Value>(
  look: () => Value | false | undefined | Promise<Value | false | undefined>,
  name = look.toString(),
): Promise<Value> {
  const end = performance.now() + 120_000;
  for (;;) {
    const value = await look();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) assert.fail(`did not come about: ${name}`);
    await sleep(10);
  }
}

/** Which waiting is meant; any of this database when nothing is given. */
export interface LockWait {
  relation?: string;
  mode?: string;
  /** Of the connection that waits; `%` stands for any text. */
  application?: string;
  /** The connection that is waited for. */
  blockedBy?: number;
}

/**
 * Until a connection to this database waits for a lock. `db` must not be in a transaction: there, PostgreSQL shows the
 * same list of connections for ever.
 */
export async function waitForLock(db: Queryable, wanted: LockWait = {}): Promise<void> {
  const clusterUrl = process.env.TEST_CITUS_URL;
  // A row is locked on the node that has it. Who waits there is seen by a function of Citus alone.
  const nodes =
    clusterUrl === undefined || wanted.relation !== undefined || wanted.mode !== undefined
      ? undefined
      : await (await import('./database/citus-cluster.ts')).watchNodes(clusterUrl, db);
  try {
    await waitUntil(
      async () => (await countWaiting(db, wanted)) > 0 || (await nodes?.waits(wanted)) === true,
      `a connection waits for a lock: ${JSON.stringify(wanted)}`,
    );
  } finally {
    await nodes?.close();
  }
}

/** Connections to this database that wait for a lock now. `db` must not be in a transaction. */
export async function countWaiting(
  db: Queryable,
  { relation, mode, application, blockedBy }: LockWait = {},
): Promise<number> {
  const { rows } = await db.query<{ waiting: number }>({
    text: `
        select count(distinct l.pid)::int as waiting
        from pg_locks l
        join pg_stat_activity a using (pid)
        where not l.granted
          and a.datname = current_database()
          and ($1::text is null or l.relation = to_regclass($1))
          and ($2::text is null or l.mode = $2)
          and ($3::text is null or a.application_name like $3)
          and ($4::integer is null or $4 = any(pg_blocking_pids(a.pid)))`,
    values: [relation, mode, application, blockedBy],
  });
  return rows[0]?.waiting ?? 0;
}

/** Until so many connections to this database wait for a lock. `db` must not be in a transaction. */
export async function waitForLocks(db: Queryable, connections: number): Promise<void> {
  const name = `${connections} connections wait for a lock`;
  await waitUntil(async () => (await countWaiting(db)) >= connections, name);
}

/**
 * Until no connection of that name (`%` stands for any text) is left in this database. What it did is over then, and
 * in the statistics. `db` must not be in a transaction.
 */
export async function waitForDisconnect(db: Queryable, application: string): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await db.query({
      text: `
        select from pg_stat_activity
        where datname = current_database()
          and application_name like $1`,
      values: [application],
    });
    return rows.length === 0;
  }, `no connection is left of ${application}`);
}
