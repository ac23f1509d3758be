/** Sessions: one per login, ended by logout, reuse of a token, a new password, or the disabling of its account. */
import type { Client, Queryable } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export type RevocationReason =
  | 'logout'
  | 'refresh-token-reuse'
  | 'password-changed'
  | 'password-reset'
  | 'account-disabled'
  | 'ended-by-owner'
  | 'second-factor-added'
  | 'second-factor-removed'
  | 'ended-by-administrator'
  | 'signed-in-again';

export interface NewSession {
  id: string;
  accountId: string;
  createdAt: Date;
  expiresAt: Date;
}

/** A CTE that inserts a session. The statement goes on with what proves it, a token or a cookie: both rows, or none. */
export const INSERT_SESSION = `
      inserted as (
        insert into session (organisation_id, id, account_id, created_at, expires_at)
        values ($1, $2, $3, $4, $5)
        returning id
      )`;

/** The parameters of {@link INSERT_SESSION}, `$1` to `$5`. */
export function sessionValues(
  { organisationId }: OrganisationScope,
  { id, accountId, createdAt, expiresAt }: NewSession,
): unknown[] {
  return [organisationId, id, accountId, createdAt, expiresAt];
}

/** An account keeps the sessions that began last. A program that signs in for each call would make millions of them. */
const SESSIONS_KEPT = 10_000;
/** One sign-in ends no more than this. The next sign-ins end the rest. */
const OLD_SESSIONS_AT_ONCE = 1_000;

/**
 * End the sessions of an account beyond {@link SESSIONS_KEPT}, on every node, in the transaction in which `session` begins. A
 * session that ended meanwhile keeps its time and reason. The `coalesce` asks for that: with "is null", a planner without
 * statistics may read all sessions of the organisation. Contract: SIGN-IN-78.
 */
export async function endOldSessions(
  client: Client,
  { organisationId }: OrganisationScope,
  session: NewSession,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>({
    name: 'session-end-old',
    text: `
      with too_old as materialized (
        select id
        from session
        where organisation_id = $1
          and account_id = $2
          and id <> $4
          and revoked_at is null
        order by created_at desc
        offset ${SESSIONS_KEPT - 1}
        limit ${OLD_SESSIONS_AT_ONCE}
      )
      update session
      set revoked_at = $3, revoked_reason = 'signed-in-again'
      where organisation_id = $1
        and id = any(array(
          select id
          from session
          where organisation_id = $1
            and id = any(array(select id from too_old))
            and coalesce(revoked_at, 'infinity') = 'infinity'
          for no key update skip locked
        ))
      returning id`,
    values: [organisationId, session.accountId, session.createdAt, session.id],
  });
  const [ended, ...others] = rows;
  if (ended === undefined) return;
  // Usually it is one. Then the nodes keep the other callers of the organisation in memory.
  await notifyLive(client, { organisationId, ...(others.length === 0 ? { sessionId: ended.id } : {}) });
}

/** When a session began. */
export async function readCreation(
  db: Queryable,
  { organisationId }: OrganisationScope,
  sessionId: string,
): Promise<Date | undefined> {
  const { rows } = await db.query<{ createdAt: Date }>({
    name: 'session-creation',
    text: `
      select created_at as "createdAt"
      from session
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, sessionId],
  });
  return rows[0]?.createdAt;
}

/** Whether a session of the account goes on. */
export async function isLiveSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, sessionId, now }: { accountId: string; sessionId: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'session-live',
    text: `
      select
      from session
      where organisation_id = $1
        and account_id = $2
        and id = $3
        and revoked_at is null
        and expires_at > $4`,
    values: [organisationId, accountId, sessionId, now],
  });
  return rowCount === 1;
}

export interface Revocation {
  accountId: string;
  reason: RevocationReason;
  now: Date;
  only?: string | undefined;
  except?: string | undefined;
}

/**
 * End the sessions of an account: all, all but one, or only one. One that has ended keeps its time and reason. How many of
 * them were live.
 */
export async function revokeSessionsOf(
  db: Queryable,
  scope: OrganisationScope,
  revocation: Revocation,
): Promise<number> {
  let live = 0;
  for (;;) {
    const ended = await revokeSomeSessionsOf(db, scope, revocation);
    live += ended.live;
    if (!ended.isMore) return live;
  }
}

/** More of them would take longer than a statement may: each has a row in several indexes. */
const ENDED_AT_ONCE = 10_000;

/**
 * As {@link revokeSessionsOf}, {@link ENDED_AT_ONCE} at most. `isMore`: some may be left. They are locked as they are chosen, so
 * that the update names nothing but their key: with more, a planner without statistics reads all of the account for it.
 */
export async function revokeSomeSessionsOf(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, reason, now, only, except }: Revocation,
): Promise<{ live: number; isMore: boolean }> {
  // Without a name: it is planned for the ids that it has.
  const { rows } = await db.query<{ found: number; live: number }>({
    text: `
      with chosen as materialized (
        select id, expires_at > $3 as live
        from session
        where organisation_id = $1
          and account_id = $2
          and ($6::uuid is null or id = $6)
          and ($7::uuid is null or id <> $7)
          and revoked_at is null
        limit $5
        for no key update
      ), ended as (
        update session
        set revoked_at = $3, revoked_reason = $4
        where organisation_id = $1
          and id = any(array(select id from chosen))
      )
      select count(*) as found, count(*) filter (where live) as live
      from chosen`,
    values: [organisationId, accountId, now, reason, ENDED_AT_ONCE, only, except],
  });
  const { found = 0, live = 0 } = rows[0] ?? {};
  return { live, isMore: found === ENDED_AT_ONCE };
}
