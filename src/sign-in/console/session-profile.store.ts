/** What a session of the console says of itself, its account and its organisation. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { SECOND_FACTOR_COLUMNS, type SecondFactor } from '../second-factor/second-factor.store.ts';

export interface SessionProfile extends SecondFactor {
  email: string;
  role: string;
  organisation: string;
  idleEndsAt: Date;
  endsAt: Date;
}

export async function readSessionProfile(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { sessionId, accountId }: { sessionId: string; accountId: string },
): Promise<SessionProfile | undefined> {
  const { rows } = await db.query<SessionProfile>({
    name: 'console-session-profile',
    text: `
      select d.email, r.name as role, o.name as organisation, s.expires_at as "idleEndsAt", c.ends_at as "endsAt",
        ${SECOND_FACTOR_COLUMNS}
      from account a
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      join session s
        on s.organisation_id = $1
        and s.account_id = a.id
      join console_session c
        on c.organisation_id = $1
        and c.session_id = s.id
      join account_directory d
        on d.user_id = a.id
      join organisation o
        on o.id = $1
      where a.organisation_id = $1
        and a.id = $2
        and s.id = $3`,
    values: [organisationId, accountId, sessionId],
  });
  return rows[0];
}
