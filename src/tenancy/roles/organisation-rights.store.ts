/**
 * SQL that says whether an account may change what all facilities of its organisation share.
 * Contract: TERM-7.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../scope.ts';
import type { Permission } from './permissions.ts';

/**
 * True when its role holds the permission, or when it may use every facility of the organisation; as of now. False once it is
 * disabled.
 */
export async function mayActForOrganisation(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, permission }: { accountId: string; permission: Permission },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'organisation-rights',
    text: `
      select
      from account a
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      where a.organisation_id = $1
        and a.id = $2
        and a.disabled_at is null
        and ($3 = any (r.permissions)
          or not exists (
            select
            from facility f
            where f.organisation_id = $1
              and not exists (
                select
                from account_facility af
                where af.organisation_id = $1
                  and af.account_id = $2
                  and af.facility_id = f.id
              )
          ))`,
    values: [organisationId, accountId, permission],
  });
  return rowCount === 1;
}
