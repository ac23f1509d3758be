/** SQL of changing an account: its address, its role and its facilities. */
import { DatabaseError } from 'pg';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

const UNIQUE_VIOLATION = '23505';

/** False when the address is taken, in whichever organisation; the transaction is at its end then. */
export async function updateEmail(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, email }: { accountId: string; email: string },
): Promise<boolean> {
  try {
    await db.query({
      text: 'update account_directory set email = $3 where organisation_id = $1 and user_id = $2',
      values: [organisationId, accountId, email],
    });
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNIQUE_VIOLATION) return false;
    throw error;
  }
}

export async function updateRoleOf(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, roleId }: { accountId: string; roleId: string },
): Promise<void> {
  await db.query({
    text: `
      update account
      set role_id = $3
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, accountId, roleId],
  });
}

/** The first is the default facility. */
export async function replaceFacilities(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, facilityIds }: { accountId: string; facilityIds: readonly string[] },
): Promise<void> {
  const values = [organisationId, accountId, facilityIds];
  await db.query({
    text: `
      delete from account_facility
      where organisation_id = $1
        and account_id = $2
        and facility_id <> all($3::uuid[])`,
    values,
  });
  await db.query({
    text: `
      insert into account_facility (organisation_id, account_id, facility_id)
      select $1, $2, unnest($3::uuid[])
      on conflict do nothing`,
    values,
  });
  await db.query({
    text: `
      update account
      set default_facility_id = $3
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, accountId, facilityIds[0]],
  });
}
