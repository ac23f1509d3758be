/**
 * SQL of listing accounts: by address, read in that order until the page is full (docs/adr/0154).
 * Contract: ADM-9, ADM-68, ADM-76.
 */
import { rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { Slice } from '../../platform/http/paging.ts';
import { addressOfAccount } from '../../tenancy/callers/account-address.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';
import { FACILITY_IDS } from '../accounts/manage-accounts.store.ts';

/** Which accounts are seen. */
export interface AccountFilter {
  userTypes: readonly UserType[];
  /** Accounts that share one of these. */
  facilityIds: readonly string[];
  /** These accounts. */
  accountIds?: readonly string[] | undefined;
  roleId?: string | undefined;
  /** The start of a word of the address, as addresses are stored. */
  search?: string | undefined;
  disabled?: boolean | undefined;
  requiresPasswordSetup?: boolean | undefined;
  mustChangePassword?: boolean | undefined;
}

export type AccountPosition = readonly [email: string];

export interface AccountName {
  userId: string;
  email: string;
}

export interface AccountRow extends AccountName {
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

export interface AccountNameQuery extends Slice<AccountPosition> {
  filter: AccountFilter;
}

export type AccountListQuery = AccountNameQuery & { databaseTime: DatabaseTime };

/** Nothing but who they are: for looking through many. */
export async function listAccountNames(
  db: Queryable,
  { organisationId }: OrganisationScope,
  query: AccountNameQuery,
): Promise<AccountName[]> {
  const values: unknown[] = [organisationId];
  const { rows } = await db.query<AccountName>({ text: pageSql(query, values), values });
  return rows;
}

export async function listAccountRows(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { databaseTime, ...query }: AccountListQuery,
): Promise<AccountRow[]> {
  const values: unknown[] = [organisationId];
  const page = pageSql(query, values);
  const now = databaseTimeSql(values.push(databaseTime));
  const oneOf = (table: string, id: string) => rowsByIndex(table, 't', { column: 'id', value: id });
  const { rows } = await db.query<AccountRow>({
    text: `
      with page as materialized (${page})
      select page.*, a.user_type as "userType", r.id as "roleId", r.name as "roleName",
        ${FACILITY_IDS},
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
      cross join ${oneOf('account', 'page."userId"')} a
      cross join ${oneOf('role', 'a.role_id')} r
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
          count(*) filter (where s.revoked_at is null and s.expires_at > ${now}) as live
        from session s
        where s.organisation_id = $1
          and s.account_id = a.id
          and s.created_at > '-infinity'
      ) used
      order by page.email`,
    values,
  });
  return rows;
}

/** Addresses in their order; what each account must meet is looked up by its key, until the page is full. */
function pageSql({ filter, after, limit }: AccountNameQuery, values: unknown[]): string {
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const { userTypes, facilityIds, accountIds, roleId, search } = filter;
  const conditions = [
    `a.user_type = any(${parameter(userTypes)})`,
    // Not "exists", which the planner may answer by reading all rows of a facility.
    `(
        select true
        from account_facility f
        where f.organisation_id = $1
          and f.account_id = d.user_id
          and f.facility_id = any(${parameter(facilityIds)}::uuid[])
        limit 1
      )`,
    ...(roleId === undefined ? [] : [`a.role_id = ${parameter(roleId)}`]),
    ...(search === undefined ? [] : [hasWord('d.email', parameter(wordStarts(search)))]),
    ...flag('a.disabled_at is not null', filter.disabled),
    ...flag('a.requires_password_setup', filter.requiresPasswordSetup),
    ...flag('a.must_change_password', filter.mustChangePassword),
  ];
  const addresses =
    accountIds === undefined
      ? 'account_directory listed'
      : `unnest(${parameter(accountIds)}::uuid[]) as named (user_id) cross join ${addressOfAccount('named.user_id')} listed`;
  return `
      select d.user_id as "userId", d.email
      from (
        select user_id, listed.email collate "C" as email
        from ${addresses}
        where listed.organisation_id = $1
          and listed.email collate "C" > ${parameter(after?.[0] ?? '')}
        order by listed.email collate "C"
        offset 0
      ) d
      cross join ${rowByKey('account', 'a', { id: 'd.user_id' })} a
      where ${conditions.join('\n        and ')}
      order by d.email
      limit ${limit}`;
}

function flag(condition: string, wanted: boolean | undefined): string[] {
  return wanted === undefined ? [] : [`(${condition}) = ${wanted}`];
}

/** Words stand between these; the first one has none before it, and a full stop is put there. */
const SIGNS = ['.', '_', '+', '@', '-'];

function wordStarts(search: string): string[] {
  return SIGNS.map((sign) => sign + search);
}

function hasWord(email: string, starts: string): string {
  return `(select bool_or(strpos('.' || ${email}, start) > 0) from unnest(${starts}::text[]) start)`;
}
