/**
 * SQL of listing accounts: by address, quick however many the organisation has (docs/adr/0150).
 * Contract: ADM-9, ADM-68, ADM-72, ADM-76.
 */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { Slice } from '../../platform/http/paging.ts';
import { addressOfAccount } from '../../tenancy/callers/account-address.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';
import { FACILITY_IDS } from '../accounts/manage-accounts.store.ts';
import { type AccountFilter, accountSources, type Parameter } from './account-sources.ts';

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

/** How many accounts are few at first. */
const FEW = 1_000;

export function listAccountRows(
  db: Queryable,
  scope: OrganisationScope,
  { databaseTime, ...query }: AccountListQuery,
): Promise<AccountRow[]> {
  return readPage(db, scope, query, (add) => detailsAt(databaseTimeSql(add(databaseTime))));
}

/** Nothing but who they are: for looking through many. */
export function listAccountNames(
  db: Queryable,
  scope: OrganisationScope,
  query: AccountNameQuery,
): Promise<AccountName[]> {
  return readPage(db, scope, query, () => ({ columns: '', joins: '' }));
}

/**
 * A page comes from the first way to its accounts that is short, else from the first names in their order. If neither
 * ends soon, four times as many are few. Each round begins anew: its answer is that of one statement.
 */
async function readPage<Row extends AccountName>(
  db: Queryable,
  { organisationId }: OrganisationScope,
  query: AccountNameQuery,
  tell: (add: (value: unknown) => number) => Details,
): Promise<Row[]> {
  for (let few = FEW; ; few *= 4) {
    const values: unknown[] = [organisationId];
    const add = (value: unknown): number => values.push(value);
    const text = pageStatement(query, { parameter: (value) => `$${add(value)}`, few, details: tell(add) });
    const { rows } = await db.query<(Row | { userId: null }) & { isWhole: boolean }>({ text, values });
    const found = rows.filter((row) => row.userId !== null);
    if (rows[0]?.isWhole === true) return found.map(({ isWhole: _, ...row }) => row as unknown as Row);
  }
}

/**
 * What each account must meet is looked up by whole keys, in lateral selects that are not planned the other way round.
 * The names are read where no source is short.
 */
function pageStatement(
  { filter, after, limit }: AccountNameQuery,
  { parameter, few, details }: { parameter: Parameter; few: number; details: Details },
): string {
  const { sources, meets } = accountSources(filter, parameter, few + 1);
  const nextName = (email: string) => `(
        select d.email collate "C" as email, d.user_id
        from account_directory d
        where d.organisation_id = $1
          and d.email collate "C" > ${email}
        order by d.email collate "C"
        limit 1
      )`;
  const behind = after === undefined ? 'true' : `d.email collate "C" > ${parameter(after[0])}`;
  const page = (from: string, condition: string) => `(
        select d.email collate "C" as email, a.id
        from ${from}
        where ${condition}
          and ${behind}
          and ${meets}
        order by 1
        limit ${limit}
      )`;
  const account = (id: string) => oneOf('account', 'id', id);
  const isShort = sources.map((_, index) => `(select is_short from source_${index}_count)`);
  const pages = [
    ...sources.map((_, index) =>
      page(
        `(select distinct id from source_${index}) source cross join ${account('source.id')} a cross join ${addressOfAccount('source.id')} d`,
        [...isShort.slice(0, index).map((one) => `not ${one}`), isShort[index]].join(' and '),
      ),
    ),
    `(
        select d.email, a.id
        from (select * from names limit ${few}) d
        cross join ${account('d.user_id')} a
        where not (${isShort.join(' or ')})
          and ${meets}
        limit ${limit}
      )`,
  ];
  const counted = sources.map(
    (source, index) => `source_${index} as materialized (${source}),
    source_${index}_count as materialized (select count(*) <= ${few} as is_short from source_${index})`,
  );
  return `
    with recursive ${counted.join(',\n    ')},
    names (email, user_id) as (
      ${nextName(parameter(after?.[0] ?? ''))}
      union all
      select d.* from names cross join lateral ${nextName('names.email')} d
    ),
    page as materialized (
      ${pages.join(' union all ')}
      order by email
      limit ${limit}
    )
    select taken."isWhole", told.*
    from (
      select ${isShort.join(' or ')} or case
        when (select count(*) from page) < ${limit}
        then (select count(*) <= ${few} from (select from names limit ${few + 1}) n)
        else true
      end as "isWhole"
    ) taken
    left join (
      select page.id as "userId", page.email${details.columns}
      from page
      ${details.joins}
    ) told on true
    order by told.email`;
}

function oneOf(table: string, column: string, value: string): string {
  return rowsByIndex(table, 't', { column, value });
}

/** What else is told of the accounts of a page, looked up for these alone. */
interface Details {
  columns: string;
  joins: string;
}

function detailsAt(now: string): Details {
  return {
    columns: `, a.user_type as "userType", r.id as "roleId", r.name as "roleName",
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
        a.created_at as "createdAt", used.last as "lastUsedAt", used.live as "liveSessions"`,
    joins: `cross join ${oneOf('account', 'id', 'page.id')} a
      cross join ${oneOf('role', 'id', 'a.role_id')} r
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
      ) used`,
  };
}
