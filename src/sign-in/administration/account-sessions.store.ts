/** SQL of the live sessions of an account. */
import { exactly } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { Slice } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export type SessionPosition = readonly [createdAt: string, id: string];

export interface LiveSession {
  id: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  /** Null for a session that is none of the console. */
  userAgent: string | null;
  network: string | null;
}

/** Newest first. */
export async function listLiveSessions(
  db: Queryable,
  { organisationId }: OrganisationScope,
  query: Slice<SessionPosition> & { accountId: string; databaseTime: DatabaseTime },
): Promise<LiveSession[]> {
  const { rows } = await db.query<LiveSession>({
    text: `
      select s.id, s.created_at as "createdAt", s.expires_at as "expiresAt", greatest(s.created_at, (
          select max(t.issued_at)
          from refresh_token t
          where t.organisation_id = $1
            and t.session_id = s.id
        ), c.last_used_at) as "lastUsedAt", c.user_agent as "userAgent", c.network
      from (
        select live.id, live.created_at, live.expires_at
        from session live
        where live.organisation_id = $1
          and ${exactly('live.account_id', '$2::uuid')}
          and live.revoked_at is null
        order by live.account_id
        offset 0
      ) s
      left join console_session c
        on c.organisation_id = $1
        and c.session_id = s.id
      where s.expires_at > ${databaseTimeSql(3)}
        and ($4::timestamptz is null
          or (date_trunc('milliseconds', s.created_at), s.id) < ($4::timestamptz, $5::uuid))
      order by date_trunc('milliseconds', s.created_at) desc, s.id desc
      limit $6`,
    values: [
      organisationId,
      query.accountId,
      query.databaseTime,
      query.after?.[0],
      query.after?.[1],
      query.limit,
    ],
  });
  return rows;
}

/** Whether the session is one of the account, live or ended. */
export async function hasSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<boolean> {
  if (!isUuid(sessionId)) return false;
  const { rowCount } = await db.query({
    text: `
      select
      from session
      where organisation_id = $1
        and account_id = $2
        and id = $3`,
    values: [organisationId, accountId, sessionId],
  });
  return rowCount === 1;
}
