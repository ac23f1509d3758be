/** Making an account. Contract: SIGN-IN-1, SIGN-IN-2. */
import { randomUUID } from 'node:crypto';
import { type Pool, transaction } from '../../platform/db/database.ts';
import { requireFacility } from '../../tenancy/organisations/facilities.ts';
import { requireRole } from '../../tenancy/roles/roles.ts';
import type { Passwords } from '../credentials/password.ts';
import { signInError } from '../errors.ts';
import type { UserType } from './account.store.ts';
import { isEmail, normaliseEmail } from './email.ts';
import { choosePassword, type PasswordSource, revealOnce } from './initial-password.ts';
import { insertAccount, insertDirectoryEntry } from './manage-accounts.store.ts';

export interface AccountInput {
  organisationId: string;
  /** At least one; the first becomes the default of the profile. */
  facilityIds: readonly string[];
  email: string;
  /** Name of the role. */
  role: string;
  userType: UserType;
  password: PasswordSource;
  mustChangePassword: boolean;
}

export interface CreatedAccount {
  userId: string;
  email: string;
  password?: string;
  setupLink?: string;
}

export interface ManageAccountDependencies {
  db: Pool;
  passwords: Passwords;
  publicBaseUrl: string;
}

/** Throws for malformed input, unknown ids and roles, and an address that is taken. */
export async function createAccount(
  { db, passwords, publicBaseUrl }: ManageAccountDependencies,
  input: AccountInput,
  now: Date,
): Promise<CreatedAccount> {
  const email = checkedEmail(input.email);
  const facilityIds = await checkedFacilities(db, input);
  const { organisationId } = input;
  const role = await requireRole(db, { organisationId, name: input.role });
  const initial = await choosePassword(passwords, input.password, email);
  const userId = randomUUID();
  return transaction(db, async (client) => {
    if (!(await insertDirectoryEntry(client, { userId, email, organisationId })))
      throw signInError('account_exists', { email });
    await insertAccount(client, input, {
      id: userId,
      userType: input.userType,
      roleId: role.id,
      facilityIds,
      passwordHash: initial.hash,
      mustChangePassword: input.mustChangePassword,
      createdAt: now,
    });
    const shown = await revealOnce(client, initial, {
      organisationId,
      accountId: userId,
      publicBaseUrl,
      now,
    });
    return { userId, email, ...shown };
  });
}

function checkedEmail(text: string): string {
  const email = normaliseEmail(text.trim());
  if (!isEmail(email)) throw signInError('bad_email', { field: 'email' });
  return email;
}

async function checkedFacilities(db: Pool, { organisationId, facilityIds }: AccountInput): Promise<string[]> {
  if (facilityIds.length === 0) throw signInError('no_facility', { field: 'facilityIds' });
  const unique = [...new Set(facilityIds.map((id) => id.toLowerCase()))];
  for (const id of unique) await requireFacility(db, organisationId, id);
  return unique;
}
