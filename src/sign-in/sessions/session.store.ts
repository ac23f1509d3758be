/** Sessions: one per login, ended by logout, reuse of a token, a new password, or the disabling of its account. */
import type { Queryable } from '../../platform/db/database.ts';
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

/**
 * End the sessions of an account: all, all but one, or only one. One that has ended keeps its time and reason. The ids of
 * those that were live.
 */
export async function revokeSessionsOf(
  db: Queryable,
  { organisationId }: OrganisationScope,
  revocation: {
    accountId: string;
    reason: RevocationReason;
    now: Date;
    only?: string | undefined;
    except?: string | undefined;
  },
): Promise<string[]> {
  const { accountId, reason, now, only, except } = revocation;
  // Without a name: it is planned for the ids that it has.
  const { rows } = await db.query<{ id: string; isLive: boolean }>({
    text: `
      update session
      set revoked_at = $3, revoked_reason = $4
      where organisation_id = $1
        and account_id = $2
        and ($5::uuid is null or id = $5)
        and ($6::uuid is null or id <> $6)
        and revoked_at is null
      returning id, expires_at > $3 as "isLive"`,
    values: [organisationId, accountId, now, reason, only, except],
  });
  return rows.filter(({ isLive }) => isLive).map(({ id }) => id);
}

/** More of them would take longer than a statement may: each has a row in several indexes. */
const ENDED_AT_ONCE = 10_000;

/**
 * End sessions of an account, {@link ENDED_AT_ONCE} at most. True when more may be left. They are locked as they are chosen, so
 * that the update names nothing but their key: with more, a planner without statistics reads all of the account for it.
 */
export async function revokeSomeSessionsOf(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, reason, now }: { accountId: string; reason: RevocationReason; now: Date },
): Promise<boolean> {
  const { rows } = await db.query<{ found: number }>({
    text: `
      with chosen as materialized (
        select id
        from session
        where organisation_id = $1
          and account_id = $2
          and revoked_at is null
        limit $5
        for no key update
      ), ended as (
        update session
        set revoked_at = $3, revoked_reason = $4
        where organisation_id = $1
          and id = any(array(select id from chosen))
      )
      select count(*) as found
      from chosen`,
    values: [organisationId, accountId, now, reason, ENDED_AT_ONCE],
  });
  return rows[0]?.found === ENDED_AT_ONCE;
}
