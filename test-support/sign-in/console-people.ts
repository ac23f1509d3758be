/** People who sign in at the console of a test API. */
import assert from 'node:assert/strict';
import type { CreatedAccount } from '../../src/sign-in/accounts/create-account.ts';
import { setPermissions } from '../../src/tenancy/roles/roles.ts';
import type { TestApi } from '../service/api.ts';
import { type ConsoleClient, openBrowser } from '../service/console.ts';
import {
  type AccountFixture,
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
  type SignInTenant,
} from './sign-in.ts';

/** What the role of {@link addConsoleTenant} opens. */
export const PATIENTS_PATH = '/patients/base?search=somebody';

/** Whose role opens {@link PATIENTS_PATH}. */
export async function addConsoleTenant(api: TestApi): Promise<SignInTenant> {
  const added = await addTenant(api.database);
  const { organisationId, role: name } = added;
  await setPermissions(api.database.pool, { organisationId, name, permissions: ['patients.patients.list'] });
  return added;
}

const passwords = cheapPasswords();

export function addPerson(
  api: TestApi,
  tenant: SignInTenant,
  options: AccountFixture = {},
): Promise<CreatedAccount> {
  return addAccount({ database: api.database, passwords }, tenant, { userType: 'STAFF', ...options });
}

/** `expected`: the state that the sign-in comes to. */
export async function signInAs(
  api: TestApi,
  { email }: Pick<CreatedAccount, 'email'>,
  expected = 'signed-in',
): Promise<ConsoleClient> {
  const browser = openBrowser(api);
  const { json, text } = await browser.call('/session', { body: { email, password: PASSWORD } });
  assert.equal(json.state, expected, text);
  return browser;
}

export interface SignedInPerson {
  account: CreatedAccount;
  browser: ConsoleClient;
}

export async function addSignedIn(
  api: TestApi,
  tenant: SignInTenant,
  options?: AccountFixture,
): Promise<SignedInPerson> {
  const account = await addPerson(api, tenant, options);
  return { account, browser: await signInAs(api, account) };
}

/** The time of the database, and of every node, moved for a while. */
export async function later(api: TestApi, seconds: number, work: () => Promise<void>): Promise<void> {
  const { now } = api.clock;
  api.clock.now = new Date(now.getTime() + seconds * 1_000);
  try {
    await work();
  } finally {
    api.clock.now = now;
  }
}
