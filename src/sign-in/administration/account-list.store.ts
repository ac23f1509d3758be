/** SQL of listing accounts: by address, quick however many the organisation has. Contract: ADM-9. */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';

export type AccountPosition = readonly [email: string];

/** Which accounts are seen. */
export interface AccountFilter {
  userTypes: readonly UserType[];
  /** Accounts that share one of these. */
  facilityIds: readonly string[];
  accountId?: string | undefined;
  /** A part of the address, as addresses are stored. */
  search?: string | undefined;
  disabled?: boolean | undefined;
  requiresPasswordSetup?: boolean | undefined;
  mustChangePassword?: boolean | undefined;
}

export interface AccountRow {
  userId: string;
  email: string;
  userType: UserType;
  roleId: string;
  roleName: string;
  facilityIds: string[];
  defaultFacilityId: string | null;
  disabled: boolean;
  mustChangePassword: boolean;
  requiresPasswordSetup: boolean;
  secondFactor: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  liveSessions: number;
}

/** The page is found first; what else is told of an account is looked up for the page alone. */
export async function listAccountRows(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { filter, after, limit, databaseTime }: AccountListQuery,
): Promise<AccountRow[]> {
  const { rows } = await db.query<AccountRow>({
    text: `
      with page as materialized (
        select d.email, a.id
        from account_directory d
        join account a
          on a.organisation_id = $1
          and a.id = d.user_id
        where d.organisation_id = $1
          and ($2::text is null or d.email collate "C" > $2)
          and ($3::uuid is null or d.user_id = $3)
          and ($4::text is null or position($4 in d.email) > 0)
          and a.user_type = any($5)
          and ($6::boolean is null or (a.disabled_at is not null) = $6)
          and ($7::boolean is null or a.requires_password_setup = $7)
          and ($8::boolean is null or a.must_change_password = $8)
          and exists (
            select
            from account_facility f
            where f.organisation_id = $1
              and f.account_id = a.id
              and f.facility_id = any($9::uuid[])
          )
        order by d.email collate "C"
        limit $10
      )
      select a.id as "userId", page.email, a.user_type as "userType", r.id as "roleId", r.name as "roleName",
        array(
          select f.facility_id::text
          from account_facility f
          where f.organisation_id = $1
            and f.account_id = a.id
          order by f.facility_id
        ) as "facilityIds",
        a.default_facility_id as "defaultFacilityId", a.disabled_at is not null as disabled,
        a.must_change_password as "mustChangePassword", a.requires_password_setup as "requiresPasswordSetup",
        exists (
          select
          from account_totp t
          where t.organisation_id = $1
            and t.account_id = a.id
        ) or exists (
          select
          from account_passkey p
          where p.organisation_id = $1
            and p.account_id = a.id
        ) as "secondFactor",
        a.created_at as "createdAt", used.last as "lastUsedAt", used.live as "liveSessions"
      from page
      join account a
        on a.organisation_id = $1
        and a.id = page.id
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      cross join lateral (
        select max(greatest(s.created_at, (
            select max(t.issued_at)
            from refresh_token t
            where t.organisation_id = $1
              and t.session_id = s.id
          ), (
            select c.last_used_at
            from console_session c
            where c.organisation_id = $1
              and c.session_id = s.id
          ))) as last,
          count(*) filter (where s.revoked_at is null and s.expires_at > ${databaseTimeSql(11)}) as live
        from session s
        where s.organisation_id = $1
          and s.account_id = a.id
      ) used
      order by page.email collate "C"`,
    values: [
      organisationId,
      after?.[0],
      filter.accountId,
      filter.search,
      filter.userTypes,
      filter.disabled,
      filter.requiresPasswordSetup,
      filter.mustChangePassword,
      filter.facilityIds,
      limit,
      databaseTime,
    ],
  });
  return rows;
}

export interface AccountListQuery extends Slice<AccountPosition> {
  filter: AccountFilter;
  databaseTime: DatabaseTime;
}
