/** Loads everything that the checks of a call need, in one round trip. Contract: ACC-15. */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { Caller, FacilityGrant, TokenIdentity } from './caller.ts';

interface CallerRow extends Omit<Caller, 'sessionId' | 'permissions' | 'facilities'> {
  permissions: string[];
  facilities: { id: string; modules: string[]; timeZone: string }[] | null;
}

/**
 * The caller behind a token: undefined when the account is unknown or disabled, or when the session is not
 * its own, was revoked or has ended.
 */
export async function loadCaller(
  db: Queryable,
  identity: TokenIdentity,
  databaseTime: DatabaseTime,
): Promise<Caller | undefined> {
  const { rows } = await db.query<CallerRow>({
    name: 'caller-load',
    text: `
      select a.id as "accountId", a.organisation_id as "organisationId", a.user_type as "userType",
        a.must_change_password as "mustChangePassword", a.requires_password_setup as "requiresPasswordSetup",
        a.default_facility_id as "defaultFacilityId", r.permissions,
        (
          select json_agg(json_build_object(
            'id', f.id,
            'timeZone', f.time_zone,
            'modules', array(
              select m.module
              from facility_module m
              where m.organisation_id = f.organisation_id
                and m.facility_id = f.id
            )
          ))
          from account_facility af
          join facility f
            on f.organisation_id = af.organisation_id
            and f.id = af.facility_id
          where af.organisation_id = a.organisation_id
            and af.account_id = a.id
        ) as facilities
      from account_directory d
      join account a
        on a.organisation_id = d.organisation_id
        and a.id = d.user_id
      join role r
        on r.organisation_id = a.organisation_id
        and r.id = a.role_id
      join session s
        on s.organisation_id = a.organisation_id
        and s.account_id = a.id
      where d.user_id = $1
        and s.id = $2
        and s.revoked_at is null
        and s.expires_at > ${databaseTimeSql(3)}
        and a.disabled_at is null`,
    values: [identity.accountId, identity.sessionId, databaseTime],
  });
  const row = rows[0];
  return row === undefined ? undefined : toCaller(row, identity.sessionId);
}

function toCaller(row: CallerRow, sessionId: string): Caller {
  const facilities = new Map<string, FacilityGrant>();
  for (const { id, modules, timeZone } of row.facilities ?? [])
    facilities.set(id, { modules: new Set(modules), timeZone });
  return { ...row, sessionId, permissions: new Set(row.permissions), facilities };
}
