/** Making an account. Contract: SIGN-IN-1, SIGN-IN-2, ADM-3, ADM-15. */
import { randomUUID } from 'node:crypto';
import type { Pool, Queryable } from '../../platform/db/database.ts';
import { administer } from '../../tenancy/administration/administer.ts';
import type { Author } from '../../tenancy/administration/author.ts';
import { requireHeld, requireOwnFacilities } from '../../tenancy/administration/manager.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import { requireFacilities, requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import type { RoleKey } from '../../tenancy/roles/role.store.ts';
import { requireRole } from '../../tenancy/roles/roles.ts';
import { requireType } from '../administration/managed-account.ts';
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
  /** How the role is named. */
  role: RoleKey;
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

/**
 * Throws for malformed input, unknown ids and roles, and an address that is taken; 403 for what its author does not hold.
 */
export async function createAccount(
  { db, passwords, publicBaseUrl }: ManageAccountDependencies,
  input: AccountInput,
  { now, author }: { now: Date; author: Author },
): Promise<CreatedAccount> {
  const email = checkedEmail(input.email);
  const { organisationId, userType, mustChangePassword } = input;
  const scope = { organisationId };
  await requireOrganisation(db, organisationId);
  const initial = await choosePassword(passwords, input.password, email);
  const userId = randomUUID();
  return administer(db, scope, author, async (client, manager) => {
    requireType(manager, userType);
    requireOwnFacilities(manager, input.facilityIds);
    const facilityIds = await checkedFacilities(client, input);
    const role = await requireRole(client, { organisationId, ...input.role });
    requireHeld(manager, role.permissions);
    if (!(await insertDirectoryEntry(client, { userId, email, organisationId })))
      throw signInError('account_exists', { email });
    await insertAccount(client, scope, {
      id: userId,
      userType,
      roleId: role.id,
      facilityIds,
      passwordHash: initial.hash,
      mustChangePassword,
      createdAt: now,
    });
    await recordChange(client, scope, author, {
      action: 'account.create',
      subject: { type: 'account', id: userId, name: email },
      facilityIds,
      after: {
        email,
        userType,
        role: role.name,
        facilityIds,
        password: input.password.kind,
        mustChangePassword,
      },
    });
    const link = { organisationId, accountId: userId, publicBaseUrl, now };
    return { userId, email, ...(await revealOnce(client, initial, link)) };
  });
}

/** As it is stored. Throws for what is no address. */
export function checkedEmail(text: string, field = 'email'): string {
  const email = normaliseEmail(text);
  if (!isEmail(email)) throw signInError('bad_email', { field });
  return email;
}

/** Each once, in lower case. Throws for none, and for ids of no facility of the organisation. */
export async function checkedFacilities(
  db: Queryable,
  { organisationId, facilityIds }: Pick<AccountInput, 'organisationId' | 'facilityIds'>,
): Promise<string[]> {
  if (facilityIds.length === 0) throw signInError('no_facility', { field: 'facilityIds' });
  const unique = [...new Set(facilityIds.map((id) => id.toLowerCase()))];
  await requireFacilities(db, organisationId, unique);
  return unique;
}
