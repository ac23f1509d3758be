/** Loads everything that the checks of a call need, in one round trip. Contract: ACC-15, OPS-26. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../scope.ts';
import type { Caller, FacilityGrant, TokenIdentity } from './caller.ts';

interface CallerRow extends Omit<Caller, 'sessionId' | 'permissions' | 'facilities'> {
  permissions: string[];
  facilities: { id: string; modules: string[]; timeZone: string }[] | null;
}

/** The organisation of an account, which never changes; undefined for an unknown account. */
export async function findOrganisationId(db: Queryable, accountId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ organisationId: string }>({
    name: 'caller-organisation',
    text: `
      select organisation_id as "organisationId"
      from account_directory
      where user_id = $1`,
    values: [accountId],
  });
  return rows[0]?.organisationId;
}

/**
 * The caller behind a token: undefined when the account is unknown or disabled, or when the session is not
 * its own, was revoked or has ended.
 */
export async function loadCaller(
  db: Queryable,
  { organisationId, accountId, sessionId }: TokenIdentity & OrganisationScope,
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
              where m.organisation_id = $1
                and m.facility_id = f.id
            )
          ))
          from account_facility af
          join facility f
            on f.organisation_id = $1
            and f.id = af.facility_id
          where af.organisation_id = $1
            and af.account_id = $2
        ) as facilities
      from account a
      cross join ${rowsByIndex('role', 'r', { column: 'id', value: 'a.role_id' })} r
      join session s
        on s.organisation_id = $1
        and s.account_id = $2
      where a.organisation_id = $1
        and a.id = $2
        and s.id = $3
        and s.revoked_at is null
        and s.expires_at > ${databaseTimeSql(4)}
        and a.disabled_at is null
        -- Tokens prove no second factor, so a role that asks for one takes none of people.
        and (
          a.user_type = 'EHR'
          or not r.requires_second_factor
          or exists (
            select
            from console_session c
            where c.organisation_id = $1
              and c.session_id = $3
          )
        )`,
    values: [organisationId, accountId, sessionId, databaseTime],
  });
  const row = rows[0];
  return row === undefined ? undefined : toCaller(row, sessionId);
}

function toCaller(row: CallerRow, sessionId: string): Caller {
  const facilities = new Map<string, FacilityGrant>();
  for (const { id, modules, timeZone } of row.facilities ?? [])
    facilities.set(id, { modules: new Set(modules), timeZone });
  return { ...row, sessionId, permissions: new Set(row.permissions), facilities };
}
