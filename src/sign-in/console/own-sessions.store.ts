/** SQL of the sessions of one account, those of tokens among them. */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { RevocationReason } from '../sessions/session.store.ts';

export interface OwnSession {
  id: string;
  createdAt: Date;
  lastUsedAt: Date;
  /** Null of a session of tokens. */
  userAgent: string | null;
  network: string | null;
}

/** Many more than a person has. */
const LISTED_AT_MOST = 200;
const REASON: RevocationReason = 'ended-by-owner';

/** Live ones, the one that was used last first. */
export async function listOwnSessions(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, databaseTime }: { accountId: string; databaseTime: DatabaseTime },
): Promise<OwnSession[]> {
  const { rows } = await db.query<OwnSession>({
    name: 'own-sessions',
    text: `
      select s.id, s.created_at as "createdAt",
        coalesce(
          c.last_used_at,
          (
            select max(t.issued_at)
            from refresh_token t
            where t.organisation_id = $1
              and t.session_id = s.id
          ),
          s.created_at
        ) as "lastUsedAt",
        c.user_agent as "userAgent", c.network
      from session s
      left join console_session c
        on c.organisation_id = $1
        and c.session_id = s.id
      where s.organisation_id = $1
        and s.account_id = $2
        and s.revoked_at is null
        and s.expires_at > ${databaseTimeSql(3)}
      order by 3 desc, s.id
      limit ${LISTED_AT_MOST}`,
    values: [organisationId, accountId, databaseTime],
  });
  return rows;
}

/** False when it is not a live one of the account. */
export async function revokeOwnSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, sessionId, now }: { accountId: string; sessionId: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'own-session-revoke',
    text: `
      update session
      set revoked_at = $4, revoked_reason = $5
      where organisation_id = $1
        and account_id = $2
        and id = $3
        and revoked_at is null
        and expires_at > $4`,
    values: [organisationId, accountId, sessionId, now, REASON],
  });
  return rowCount === 1;
}
