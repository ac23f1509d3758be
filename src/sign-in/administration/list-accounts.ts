/** Lists accounts with their state, for administrators. Contract: ADM-1, ADM-9, ADM-17, ADM-68. */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { type ListDependencies, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { notFound } from '../../tenancy/errors.ts';
import { USER_TYPES, type UserType } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { signInError } from '../errors.ts';
import { isAnybodyLocked } from '../lockout/lockout.store.ts';
import { lockedAccounts } from '../lockout/lockout.ts';
import {
  type AccountFilter,
  type AccountNameQuery,
  type AccountPosition,
  type AccountRow,
  listAccountNames,
  listAccountRows,
} from './account-list.store.ts';
import { MANAGING } from './managed-account.ts';

/** What an account is told to be; the first that holds. */
export const ACCOUNT_STATES = [
  'disabled',
  'locked',
  'requires-setup',
  'must-change-password',
  'active',
] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

export interface ListedAccount extends AccountRow {
  locked: boolean;
  state: AccountState;
}

export interface ListAccountsDependencies extends ListDependencies {
  keys: Pick<KeyRing, 'derive'>;
}

export interface ListContext {
  caller: Pick<Caller, 'accountId' | 'organisationId' | 'permissions' | 'facilities'>;
  databaseTime: DatabaseTime;
}

export interface AccountQuery extends PageRequest {
  type?: UserType | undefined;
  search?: string | undefined;
  /** The id of a role. */
  role?: string | undefined;
  state?: AccountState | undefined;
}

/** The accounts that share a facility with the caller, of the types that the caller manages. */
export async function listSeenAccounts(
  deps: ListAccountsDependencies,
  context: ListContext,
  { type, search, role, state, ...request }: AccountQuery,
): Promise<Page<ListedAccount>> {
  const { caller } = context;
  const binding = ['accounts', caller.organisationId, caller.accountId, type, search, role, state];
  const page = openPage<AccountPosition>(deps.cursors, request, binding);
  const filter = {
    ...seenBy(caller),
    ...(type === undefined ? {} : { userTypes: [requireSeenType(caller, type)] }),
    ...(role === undefined ? {} : { roleId: role }),
    ...(search === undefined ? {} : { search: normaliseEmail(search) }),
    ...(state === undefined ? {} : FLAGS[state]),
  };
  const found = await readInState(deps, context, { filter, state, ...page.slice });
  return page.close(found, ({ email }) => [email]);
}

/** 404 for one that the caller does not see. */
export async function readSeenAccount(
  deps: Omit<ListAccountsDependencies, 'cursors'>,
  context: ListContext,
  accountId: string,
): Promise<ListedAccount> {
  const filter = { ...seenBy(context.caller), accountIds: [accountId] };
  const [found] = isUuid(accountId) ? await readAll(deps, context, { filter, limit: 1 }) : [];
  if (found === undefined) throw notFound('The account');
  return found;
}

function seenBy({ permissions, facilities }: ListContext['caller']): AccountFilter {
  return {
    userTypes: USER_TYPES.filter((type) => permissions.has(MANAGING[type])),
    facilityIds: [...facilities.keys()],
  };
}

function requireSeenType({ permissions }: ListContext['caller'], userType: UserType): UserType {
  if (!permissions.has(MANAGING[userType])) throw signInError('account_type_refused', { userType });
  return userType;
}

/** What the database knows of a state; whether an account is locked is looked up behind it. */
const FLAGS: Readonly<Record<AccountState, Partial<AccountFilter>>> = {
  disabled: { disabled: true },
  locked: { disabled: false },
  'requires-setup': { disabled: false, requiresPasswordSetup: true },
  'must-change-password': { disabled: false, requiresPasswordSetup: false, mustChangePassword: true },
  active: { disabled: false, requiresPasswordSetup: false, mustChangePassword: false },
};

interface StateQuery extends AccountNameQuery {
  state?: AccountState | undefined;
}

type ReadDependencies = Omit<ListAccountsDependencies, 'cursors'>;

/** An account of another state than `locked` may be locked besides, so accounts are read on until the page is full. */
async function readInState(
  deps: ReadDependencies,
  context: ListContext,
  { state, ...query }: StateQuery,
): Promise<ListedAccount[]> {
  if (state === 'locked') return readLocked(deps, context, query);
  const found: ListedAccount[] = [];
  for (let { after } = query; ; ) {
    const accounts = await readAll(deps, context, { ...query, after });
    found.push(...accounts.filter((account) => state === undefined || account.state === state));
    const last = accounts.at(-1);
    if (found.length >= query.limit || last === undefined || accounts.length < query.limit)
      return found.slice(0, query.limit);
    after = [last.email];
  }
}

/** Accounts looked through at once where few of them are wanted. */
const MANY = 1_000;

/** Counters of locks know no account (SEC-4), so all that the other filters mean are looked through. */
async function readLocked(
  deps: ReadDependencies,
  context: ListContext,
  { filter, after, limit }: AccountNameQuery,
): Promise<ListedAccount[]> {
  const { caller, databaseTime } = context;
  const locked: string[] = [];
  if (!(await isAnybodyLocked(deps.db, databaseTime))) return [];
  for (let position = after; ; ) {
    const names = await listAccountNames(deps.db, caller, { filter, after: position, limit: MANY });
    const ids = names.map(({ userId }) => userId);
    locked.push(...(await lockedAccounts(deps, ids, databaseTime)));
    const last = names.at(-1);
    if (locked.length >= limit || last === undefined || names.length < MANY) break;
    position = [last.email];
  }
  const query = { filter: { ...filter, accountIds: locked }, after, limit, databaseTime };
  return (await listAccountRows(deps.db, caller, query)).map((row) => withState(row, true));
}

async function readAll(
  deps: ReadDependencies,
  { caller, databaseTime }: ListContext,
  query: AccountNameQuery,
): Promise<ListedAccount[]> {
  const rows = await listAccountRows(deps.db, caller, { ...query, databaseTime });
  const ids = rows.map(({ userId }) => userId);
  const locked = await lockedAccounts(deps, ids, databaseTime);
  return rows.map((row) => withState(row, locked.has(row.userId)));
}

function withState(row: AccountRow, locked: boolean): ListedAccount {
  const holds: Readonly<Record<AccountState, boolean>> = {
    disabled: row.disabled,
    locked,
    'requires-setup': row.requiresPasswordSetup,
    'must-change-password': row.mustChangePassword,
    active: true,
  };
  return { ...row, locked, state: ACCOUNT_STATES.find((state) => holds[state]) ?? 'active' };
}
