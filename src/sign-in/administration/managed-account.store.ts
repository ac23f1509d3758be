/** SQL of an account that somebody manages: what it is and may do, held until the transaction ends. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Client, Queryable } from '../../platform/db/database.ts';
import { addressOfAccount } from '../../tenancy/callers/account-address.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';

export interface ManagedAccount {
  userId: string;
  email: string;
  userType: UserType;
  roleId: string;
  role: string;
  /** Of its role. */
  permissions: string[];
  facilityIds: string[];
  defaultFacilityId: string | null;
  mustChangePassword: boolean;
  disabled: boolean;
}

export async function lockManagedAccount(
  client: Client,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<ManagedAccount | undefined> {
  const { rows } = await client.query<Omit<ManagedAccount, 'facilityIds'>>({
    name: 'managed-account-lock',
    text: `
      select a.id as "userId", d.email, a.user_type as "userType", r.id as "roleId", r.name as role, r.permissions,
        a.default_facility_id as "defaultFacilityId", a.must_change_password as "mustChangePassword",
        a.disabled_at is not null as disabled
      from account a
      cross join ${rowsByIndex('role', 'r', { column: 'id', value: 'a.role_id' })} r
      cross join ${addressOfAccount('a.id')} d
      where a.organisation_id = $1
        and a.id = $2
      for no key update of a`,
    values: [organisationId, accountId],
  });
  const [row] = rows;
  return row && { ...row, facilityIds: await facilityIdsOf(client, { organisationId }, accountId) };
}

export async function facilityIdsOf(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<string[]> {
  const { rows } = await db.query<{ facilityId: string }>({
    name: 'account-facility-ids',
    text: `
      select facility_id as "facilityId"
      from account_facility
      where organisation_id = $1
        and account_id = $2
      order by facility_id`,
    values: [organisationId, accountId],
  });
  return rows.map(({ facilityId }) => facilityId);
}
