/** What the pages about integration accounts and people read. */
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import type { Answer, Item } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import { FRESH_MS, queries } from '../../app/queries.ts';
import { NOT_FOUND } from '../../blocks/states/error-text.ts';
import type { Tone } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';

export type Account = Item<'/accounts'>;
export type AccountSession = Item<'/accounts/{accountId}/sessions'>;
export type Issued = Answer<'/accounts', 'post'>;
export type Role = Item<'/roles'>;
/** EHR: a system. STAFF: a person. */
export type AccountKind = Account['userType'];

/** Where the accounts of each kind are, and the permission that opens them. */
export const ACCOUNT_PLACES = {
  EHR: {
    list: '/integration-accounts',
    one: '/integration-accounts/$accountId',
    permission: 'accounts.manage',
  },
  STAFF: { list: '/people', one: '/people/$accountId', permission: 'people.manage' },
} as const;

export const STATE_TONES: Record<Account['state'], Tone> = {
  active: 'good',
  'must-change-password': 'warning',
  'requires-setup': 'running',
  locked: 'bad',
  disabled: 'quiet',
};

/** How the service begins to say that an address has an account already. */
export const ABOUT_TAKEN_ADDRESS = ['An account with this email ', 'Il y a déjà un compte '];

/** Roles are few; an organisation with more than these chooses by the role's own page. */
const MOST_ROLES = 1_000;

export function readAccount(accountId: string) {
  return queryOptions({
    queryKey: ['account', accountId],
    queryFn: () => getAccount(accountId),
  });
}

function getAccount(accountId: string) {
  return answered(api.GET('/accounts/{accountId}', { params: { path: { accountId } } }));
}

/** Null, and not asked for again before a change, for an account that the person may not see. */
function readAddress(accountId: string) {
  return queryOptions({
    queryKey: ['account', accountId, 'address'],
    queryFn: async () => {
      try {
        return (await getAccount(accountId)).email;
      } catch (error) {
        if (error instanceof ApiError && error.status === NOT_FOUND) return null;
        throw error;
      }
    },
    staleTime: ({ state }) => (state.data === null ? Number.POSITIVE_INFINITY : FRESH_MS),
  });
}

/** Addresses of those of these accounts that the person may see, their own left out. */
export function useAccountAddresses(
  accountIds: readonly (string | null)[],
): (accountId: string) => string | undefined {
  const { may, session } = useSession();
  const enabled = may(...Object.values(ACCOUNT_PLACES).map(({ permission }) => permission));
  const known = accountIds.filter((id) => id !== null);
  const ids = [...new Set(known)].filter((id) => id !== session.account.userId);
  const found = useQueries({ queries: ids.map((id) => ({ ...readAddress(id), enabled })) });
  return (accountId) => found[ids.indexOf(accountId)]?.data ?? undefined;
}

const rolesQuery = queryOptions({ queryKey: ['roles', 'all'], queryFn: readRoles });

/** Every role, by name; undefined until they are read. */
export function useRoles() {
  return useQuery(rolesQuery);
}

/** The role as it is now; undefined when it is gone. */
export async function readRole(roleId: string): Promise<Role | undefined> {
  const roles = await queries.fetchQuery({ ...rolesQuery, staleTime: 0 });
  return roles.find(({ id }) => id === roleId);
}

async function readRoles(): Promise<Role[]> {
  const roles: Role[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 100, cursor };
    const part = await answered(api.GET('/roles', { params: { query } }));
    roles.push(...part.items);
    cursor = part.nextCursor ?? undefined;
  } while (cursor !== undefined && roles.length < MOST_ROLES);
  return roles;
}

/** Accounts have changed, and with them who holds a role. */
export async function readAccountsAgain(): Promise<void> {
  const keys = ['accounts', 'account', 'account-sessions', 'roles', 'overview'];
  await Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })));
}
