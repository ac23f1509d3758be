/** SQL of who administers an organisation: the lock of its changes, and what an administrator may. Contract: ADM-2, ADM-6. */
import type { Client, Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../scope.ts';

/** Until the transaction ends, others wait who change accounts, roles or facilities of the organisation. */
export async function lockAdministration(
  client: Client,
  { organisationId }: OrganisationScope,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'administration-lock',
    text: 'select from organisation where id = $1 for no key update',
    values: [organisationId],
  });
  return rowCount === 1;
}

export interface ManagerRow {
  permissions: string[];
  facilityIds: string[];
}

/**
 * What an account may do as of now; undefined when it is disabled, the session that it acts in has ended, or its role asks
 * for a second factor that was not proven in it.
 */
export async function readManager(
  db: Queryable,
  { organisationId }: OrganisationScope,
  {
    accountId,
    sessionId,
    databaseTime = null,
  }: { accountId: string; sessionId?: string | undefined; databaseTime?: DatabaseTime | undefined },
): Promise<ManagerRow | undefined> {
  const { rows } = await db.query<ManagerRow>({
    name: 'administration-manager',
    text: `
      select r.permissions, array(
        select f.facility_id::text
        from account_facility f
        where f.organisation_id = $1
          and f.account_id = a.id
      ) as "facilityIds"
      from account a
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      where a.organisation_id = $1
        and a.id = $2
        and a.disabled_at is null
        and ($3::uuid is null or exists (
          select
          from session s
          where s.organisation_id = $1
            and s.id = $3
            and s.revoked_at is null
            and s.expires_at > ${databaseTimeSql(4)}
        ))
        and (a.user_type = 'EHR' or not r.requires_second_factor or exists (
          select
          from console_session c
          where c.organisation_id = $1
            and c.session_id = $3
            and c.proven
        ))`,
    values: [organisationId, accountId, sessionId, databaseTime],
  });
  return rows[0];
}

/** Whether some person can sign in who may give others accounts and roles. */
export async function hasAdministrator(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'administration-administrator',
    text: `
      select
      from role r
      join account a
        on a.organisation_id = $1
        and a.role_id = r.id
      where r.organisation_id = $1
        and r.permissions @> array['people.manage', 'roles.manage']
        and a.user_type = 'STAFF'
        and a.disabled_at is null
        and a.password_hash is not null
      limit 1`,
    values: [organisationId],
  });
  return rowCount === 1;
}
