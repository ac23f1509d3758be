/** SQL of making, listing, disabling and enabling accounts. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from './account.store.ts';

export interface NewAccount {
  id: string;
  userType: UserType;
  roleId: string;
  /** The first is the default of the profile. */
  facilityIds: readonly string[];
  passwordHash: string | null;
  mustChangePassword: boolean;
  createdAt: Date;
}

export interface AccountSummary {
  userId: string;
  email: string;
  userType: UserType;
  role: string;
  defaultFacilityId: string | null;
  facilityIds: string[];
  mustChangePassword: boolean;
  requiresPasswordSetup: boolean;
  disabled: boolean;
  createdAt: Date;
  /** Of the sessions that are still kept. */
  lastSignInAt: Date | null;
}

/** False when the address is taken, in whichever organisation. */
export async function insertDirectoryEntry(
  db: Queryable,
  entry: { userId: string; email: string; organisationId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      insert into account_directory (user_id, email, organisation_id)
      values ($1, $2, $3)
      on conflict do nothing`,
    values: [entry.userId, entry.email, entry.organisationId],
  });
  return rowCount === 1;
}

export async function insertAccount(
  db: Queryable,
  { organisationId }: OrganisationScope,
  account: NewAccount,
): Promise<void> {
  await db.query({
    text: `
      insert into account (organisation_id, id, user_type, role_id, default_facility_id, password_hash,
        must_change_password, requires_password_setup, password_changed_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $6::text is null, $8, $8)`,
    values: [
      organisationId,
      account.id,
      account.userType,
      account.roleId,
      account.facilityIds[0],
      account.passwordHash,
      account.mustChangePassword,
      account.createdAt,
    ],
  });
  await db.query({
    text: `
      insert into account_facility (organisation_id, account_id, facility_id)
      select $1, $2, unnest($3::uuid[])`,
    values: [organisationId, account.id, account.facilityIds],
  });
}

/** `disabledAt` null enables it. */
export async function setDisabled(
  db: Queryable,
  { organisationId }: OrganisationScope,
  change: { accountId: string; disabledAt: Date | null },
): Promise<void> {
  await db.query({
    text: `
      update account
      set disabled_at = $3
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, change.accountId, change.disabledAt],
  });
}

/** Facilities of the account `a`; the default of its profile comes first. */
export const FACILITY_IDS = `array(
          select f.facility_id::text
          from account_facility f
          where f.organisation_id = $1
            and f.account_id = a.id
          order by f.facility_id is distinct from a.default_facility_id, f.facility_id
        ) as "facilityIds"`;

export async function listAccounts(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<AccountSummary[]> {
  const { rows } = await db.query<AccountSummary>({
    text: `
      select a.id as "userId", d.email, a.user_type as "userType", r.name as role,
        a.default_facility_id as "defaultFacilityId",
        ${FACILITY_IDS},
        a.must_change_password as "mustChangePassword",
        a.requires_password_setup as "requiresPasswordSetup",
        a.disabled_at is not null as disabled,
        a.created_at as "createdAt",
        (
          select max(s.created_at)
          from session s
          where s.organisation_id = $1
            and s.account_id = a.id
        ) as "lastSignInAt"
      from account a
      join account_directory d
        on d.user_id = a.id
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      where a.organisation_id = $1
      order by d.email`,
    values: [organisationId],
  });
  return rows;
}
