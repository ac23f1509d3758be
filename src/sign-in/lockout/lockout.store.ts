/**
 * Counters of failed sign-ins and the networks that an identity signs in from (docs/adr/0005).
 * Contract: SIGN-IN-16, SEC-2.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';

export interface CounterKey {
  identityHash: Buffer;
  /** A network that signed in before; empty for the counter that all others share. */
  network: string;
}

export interface Reservation {
  identityHash: Buffer;
  network: string;
  attemptId: string;
  databaseTime: DatabaseTime;
  limit: number;
  /** Failures older than this no longer count. */
  windowSeconds: number;
  /** Attempts older than this were given up by a process that ended. */
  pendingSeconds: number;
}

/** The time of the attempt, in milliseconds, while its row is being updated. */
const NOW_MS = '(extract(epoch from excluded.updated_at) * 1000)::bigint';

/**
 * Take one of the attempts that the identity has left: undefined when it is locked or all are under way.
 * One statement, so that attempts that race see one another: the update waits for the row and is judged on
 * its newest version. `now` is the time of the database.
 */
export async function reserveAttempt(
  db: Queryable,
  wanted: Reservation,
): Promise<(CounterKey & { now: Date }) | undefined> {
  const { rows } = await db.query<{ network: string; now: Date }>({
    name: 'sign-in-reserve',
    text: `
      insert into sign_in_counter as c (identity_hash, network, pending, updated_at)
      select
        $1,
        coalesce(
          (select n.network from sign_in_network n where n.identity_hash = $1 and n.network = $2),
          ''
        ),
        jsonb_build_object($3::text, (extract(epoch from clock.now) * 1000)::bigint),
        clock.now
      from (select ${databaseTimeSql(4)} as now) clock
      on conflict (identity_hash, network) do update
      set
        failures = (
          select coalesce(jsonb_object_agg(f.key, f.value), '{}')
          from jsonb_each(c.failures) f
          where f.value::bigint > ${NOW_MS} - $5::bigint
        ),
        pending = (
          select coalesce(jsonb_object_agg(p.key, p.value), '{}')
          from jsonb_each(c.pending) p
          where p.value::bigint > ${NOW_MS} - $6::bigint
        ) || excluded.pending,
        locked_until = null,
        updated_at = excluded.updated_at
      where (c.locked_until is null or c.locked_until <= excluded.updated_at)
        and (
          (select count(*) from jsonb_each(c.failures) f where f.value::bigint > ${NOW_MS} - $5::bigint)
          + (select count(*) from jsonb_each(c.pending) p where p.value::bigint > ${NOW_MS} - $6::bigint)
        ) < $7
      returning c.network, c.updated_at as now`,
    values: [
      wanted.identityHash,
      wanted.network,
      wanted.attemptId,
      wanted.databaseTime,
      wanted.windowSeconds * 1_000,
      wanted.pendingSeconds * 1_000,
      wanted.limit,
    ],
  });
  return rows[0] && { identityHash: wanted.identityHash, ...rows[0] };
}

/** How long the lock still holds an identity back from this network; undefined when there is none. */
export async function readLock(
  db: Queryable,
  { identityHash, network }: CounterKey,
  databaseTime: DatabaseTime,
): Promise<{ seconds: number } | undefined> {
  const { rows } = await db.query<{ seconds: number }>({
    name: 'sign-in-lock-read',
    text: `
      select ceil(extract(epoch from c.locked_until - clock.now))::integer as seconds
      from sign_in_counter c, (select ${databaseTimeSql(3)} as now) clock
      where c.identity_hash = $1
        and c.network = coalesce(
          (select n.network from sign_in_network n where n.identity_hash = $1 and n.network = $2),
          ''
        )
        and c.locked_until > clock.now`,
    values: [identityHash, network, databaseTime],
  });
  return rows[0];
}

/** Of the identities, by their hashes in hex, those that are locked for some network. */
export async function readLockedIdentities(
  db: Queryable,
  identityHashes: readonly string[],
  databaseTime: DatabaseTime,
): Promise<string[]> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'sign-in-locked',
    text: `
      select distinct encode(c.identity_hash, 'hex') as hash
      from unnest($1::text[]) as wanted (hash)
      join sign_in_counter c
        on c.identity_hash = decode(wanted.hash, 'hex')
      where c.locked_until > ${databaseTimeSql(2)}`,
    values: [identityHashes, databaseTime],
  });
  return rows.map(({ hash }) => hash);
}

/** Whether anybody is locked for some network, of whatever organisation. */
export async function isAnybodyLocked(db: Queryable, databaseTime: DatabaseTime): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'sign-in-any-lock',
    text: `
      select
      from sign_in_counter
      where locked_until > ${databaseTimeSql(1)}
      limit 1`,
    values: [databaseTime],
  });
  return rowCount === 1;
}

const RECENT_FAILURES = '(select count(*) from jsonb_each(c.failures) f where f.value::bigint > $5)';

/** Turn a pending attempt into a failure; the one that reaches the limit locks and starts the count anew. */
export async function recordFailure(
  db: Queryable,
  failure: CounterKey & { attemptId: string; now: Date; limit: number; failuresSince: Date; lockUntil: Date },
): Promise<{ locked: boolean }> {
  const { rows } = await db.query<{ locked: boolean }>({
    name: 'sign-in-failure',
    text: `
      update sign_in_counter c
      set
        pending = c.pending - $3::text,
        failures = case
          when ${RECENT_FAILURES} + 1 >= $6 then '{}'
          else c.failures || jsonb_build_object($3::text, $4::bigint)
        end,
        locked_until = case when ${RECENT_FAILURES} + 1 >= $6 then $7 else c.locked_until end,
        updated_at = $8
      where c.identity_hash = $1
        and c.network = $2
      returning c.locked_until is not null as locked`,
    values: [
      failure.identityHash,
      failure.network,
      failure.attemptId,
      failure.now.getTime(),
      failure.failuresSince.getTime(),
      failure.limit,
      failure.lockUntil,
      failure.now,
    ],
  });
  return { locked: rows[0]?.locked ?? false };
}

/** Give back an attempt that was never judged. */
export async function releaseAttempt(
  db: Queryable,
  attempt: CounterKey & { attemptId: string },
): Promise<void> {
  await db.query({
    name: 'sign-in-release',
    text: `
      update sign_in_counter
      set pending = pending - $3::text
      where identity_hash = $1
        and network = $2`,
    values: [attempt.identityHash, attempt.network, attempt.attemptId],
  });
}

/** A success: the network has signed in from now on, and its own counter starts anew. */
export async function recordSuccess(
  db: Queryable,
  success: CounterKey & { attemptId: string; from: string; now: Date },
): Promise<void> {
  await db.query({
    name: 'sign-in-success',
    text: `
      with counter as (
        update sign_in_counter
        set
          pending = pending - $3::text,
          failures = case when network = '' then failures else '{}' end,
          updated_at = $5
        where identity_hash = $1
          and network = $2
      )
      insert into sign_in_network (identity_hash, network, last_sign_in_at)
      values ($1, $4, $5)
      on conflict (identity_hash, network) do update
      set last_sign_in_at = excluded.last_sign_in_at`,
    values: [success.identityHash, success.network, success.attemptId, success.from, success.now],
  });
}

/** The network counts as one that signed in, and its own counter starts anew. */
export async function insertNetwork(
  db: Queryable,
  { identityHash, network, now }: CounterKey & { now: Date },
): Promise<void> {
  await db.query({
    name: 'sign-in-network',
    text: `
      with counter as (
        delete from sign_in_counter
        where identity_hash = $1
          and network = $2
      )
      insert into sign_in_network (identity_hash, network, last_sign_in_at)
      values ($1, $2, $3)
      on conflict (identity_hash, network) do update
      set last_sign_in_at = excluded.last_sign_in_at`,
    values: [identityHash, network, now],
  });
}

/** Forget the failures and locks of an identity. False where there were none. */
export async function clearCounters(db: Queryable, identityHash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'sign-in-clear',
    text: `
      delete from sign_in_counter
      where identity_hash = $1`,
    values: [identityHash],
  });
  return (rowCount ?? 0) > 0;
}
