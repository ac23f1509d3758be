/**
 * SQL of the ways to the accounts that a filter means: each is read if it is short, whatever the organisation has
 * (docs/adr/0150). Contract: ADM-68, ADM-72.
 */
import type { UserType } from '../accounts/account.store.ts';

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

/** Adds a value to the statement. `$1` is the organisation. */
export type Parameter = (value: unknown) => string;

export interface AccountSources {
  /** Selects of ids, some of which come twice. Each that is short has every account that is meant; the first such is read. */
  sources: string[];
  /** What an account of `a` with the address of `d` must meet. */
  meets: string;
}

/** As the indexes have them. The domain may be the second word, or a later one than the fourth. */
const WORDS = [
  `d.email collate "C"`,
  `(substring(d.email from '[._+@-](.*)$')) collate "C"`,
  `(substring(d.email from '[._+@-][^._+@-]*[._+@-](.*)$')) collate "C"`,
  `(substring(d.email from '[._+@-][^._+@-]*[._+@-][^._+@-]*[._+@-](.*)$')) collate "C"`,
  `(substring(d.email from '@(.*)$')) collate "C"`,
];
/** Behind all that begins with the same text, by bytes. */
const LAST = '\u{10ffff}';

/** `most` of each source are looked at. */
export function accountSources(
  { userTypes, facilityIds, accountIds, roleId, search, ...flags }: AccountFilter,
  parameter: Parameter,
  most: number,
): AccountSources {
  const types = `a.user_type = any(${parameter(userTypes)})`;
  const facilities = `f.facility_id = any(${parameter(facilityIds)}::uuid[])`;
  const state = flagConditions(flags);
  const role = roleId === undefined ? [] : [`a.role_id = ${parameter(roleId)}`];
  const begins = search === undefined ? undefined : wordRanges(search, parameter);
  const named = accountIds === undefined ? undefined : `${parameter(accountIds)}::uuid[]`;
  const account = (conditions: string[]) =>
    `select a.id from account a where a.organisation_id = $1 and ${conditions.join(' and ')} limit ${most}`;
  const sources = [
    ...(named === undefined ? [] : [`select unnest(${named}) as id`]),
    ...(begins === undefined ? [] : [begins.map((range) => directory(range, most)).join(' union ')]),
    ...(role.length === 0 ? [] : [account([...role, types])]),
    state.length > 0
      ? account([types, ...state])
      : [true, false]
          .map((disabled) => `(${account([types, ...flagConditions({ disabled })])})`)
          .join(' union all '),
    // With one row for each facility: of the rows that are looked at, none may be missing in the count.
    `select f.account_id as id from account_facility f where f.organisation_id = $1 and ${facilities} limit ${most}`,
  ];
  const meets = [
    types,
    ...state,
    ...role,
    ...(named === undefined ? [] : [`a.id = any(${named})`]),
    ...(begins === undefined ? [] : [`(${begins.join(' or ')})`]),
    `(
        select true from account_facility f
        where f.organisation_id = $1 and f.account_id = a.id and ${facilities}
        limit 1
      )`,
  ];
  return { sources, meets: meets.join('\n        and ') };
}

/** Spelt out: an index that has only some rows is used when the statement says so itself. */
function flagConditions({
  disabled,
  requiresPasswordSetup,
  mustChangePassword,
}: Pick<AccountFilter, 'disabled' | 'requiresPasswordSetup' | 'mustChangePassword'>): string[] {
  return [
    ...(disabled === undefined ? [] : [`a.disabled_at is ${disabled ? 'not null' : 'null'}`]),
    ...(requiresPasswordSetup === undefined ? [] : [`a.requires_password_setup = ${requiresPasswordSetup}`]),
    ...(mustChangePassword === undefined ? [] : [`a.must_change_password = ${mustChangePassword}`]),
  ];
}

function wordRanges(search: string, parameter: Parameter): string[] {
  const [from, to] = [parameter(search), parameter(search + LAST)];
  return WORDS.map((word) => `(${word} >= ${from} and ${word} < ${to})`);
}

function directory(range: string, most: number): string {
  return `(select d.user_id as id from account_directory d where d.organisation_id = $1 and ${range} limit ${most})`;
}
