/** Lists accounts with their state, for administrators. Contract: ADM-1, ADM-9, ADM-17. */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { notFound } from '../../tenancy/errors.ts';
import { USER_TYPES, type UserType } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { signInError } from '../errors.ts';
import { lockedAccounts } from '../lockout/lockout.ts';
import {
  type AccountFilter,
  type AccountPosition,
  type AccountRow,
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

export interface ListDependencies {
  db: Queryable;
  keys: Pick<KeyRing, 'derive'>;
  cursors: CursorCodec;
}

export interface ListContext {
  caller: Pick<Caller, 'accountId' | 'organisationId' | 'permissions' | 'facilities'>;
  databaseTime: DatabaseTime;
}

export interface AccountQuery extends PageRequest {
  type?: UserType | undefined;
  search?: string | undefined;
  state?: AccountState | undefined;
}

/** The accounts that share a facility with the caller, of the types that the caller manages. */
export async function listSeenAccounts(
  deps: ListDependencies,
  context: ListContext,
  { type, search, state, ...request }: AccountQuery,
): Promise<Page<ListedAccount>> {
  const { caller } = context;
  const binding = ['accounts', caller.organisationId, caller.accountId, type, search, state];
  const page = openPage<AccountPosition>(deps.cursors, request, binding);
  const filter = {
    ...seenBy(caller),
    ...(type === undefined ? {} : { userTypes: [requireSeenType(caller, type)] }),
    ...(search === undefined ? {} : { search: normaliseEmail(search.trim()) }),
    ...(state === undefined ? {} : FLAGS[state]),
  };
  const found = await readInState(deps, context, { filter, state, ...page.slice });
  return page.close(found, ({ email }) => [email]);
}

/** 404 for one that the caller does not see. */
export async function readSeenAccount(
  deps: Omit<ListDependencies, 'cursors'>,
  context: ListContext,
  accountId: string,
): Promise<ListedAccount> {
  const filter = { ...seenBy(context.caller), accountId };
  const [found] = isUuid(accountId) ? await readInState(deps, context, { filter, limit: 1 }) : [];
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

/** Accounts looked through at once where few of them are wanted. */
const MANY = 1_000;

interface StateQuery {
  filter: AccountFilter;
  state?: AccountState | undefined;
  after?: AccountPosition | undefined;
  limit: number;
}

/** Counters of locks know no account (SEC-4), so accounts are read on until enough of them are in the state. */
async function readInState(
  { db, keys }: Omit<ListDependencies, 'cursors'>,
  { caller, databaseTime }: ListContext,
  { filter, state, after, limit }: StateQuery,
): Promise<ListedAccount[]> {
  const found: ListedAccount[] = [];
  const step = state === 'locked' ? MANY : limit;
  for (let position = after; ; ) {
    const query = { filter, after: position, limit: step, databaseTime };
    const rows = await listAccountRows(db, caller, query);
    const ids = rows.map(({ userId }) => userId);
    const locked = await lockedAccounts({ db, keys }, ids, databaseTime);
    for (const row of rows) {
      const account = withState(row, locked.has(row.userId));
      if (state === undefined || account.state === state) found.push(account);
    }
    const last = rows.at(-1);
    if (found.length >= limit || last === undefined || rows.length < step) return found.slice(0, limit);
    position = [last.email];
  }
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
