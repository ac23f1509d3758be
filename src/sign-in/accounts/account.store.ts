/** Accounts as sign-in reads them. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Client, Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { SECOND_FACTOR_COLUMNS, type SecondFactor } from '../second-factor/second-factor.store.ts';

export type UserType = 'EHR' | 'STAFF';
export const USER_TYPES: readonly UserType[] = ['EHR', 'STAFF'];

/** Where an account lives. */
export interface DirectoryEntry {
  userId: string;
  email: string;
  organisationId: string;
}

export interface AccountCredentials {
  id: string;
  userType: UserType;
  passwordHash: string | null;
  mustChangePassword: boolean;
  requiresPasswordSetup: boolean;
  disabled: boolean;
}

/** A well-formed id that no account and no organisation has. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

const DIRECTORY = `
      select user_id as "userId", email, organisation_id as "organisationId"
      from account_directory`;

/** By normalised email address. */
export async function findByEmail(db: Queryable, email: string): Promise<DirectoryEntry | undefined> {
  const { rows } = await db.query<DirectoryEntry>({
    name: 'account-by-email',
    text: `${DIRECTORY}
      where lower(email) = $1`,
    values: [email],
  });
  return rows[0];
}

export async function findByUserId(db: Queryable, userId: string): Promise<DirectoryEntry | undefined> {
  const { rows } = await db.query<DirectoryEntry>({
    name: 'account-by-user-id',
    text: `${DIRECTORY}
      where user_id = $1`,
    values: [userId],
  });
  return rows[0];
}

const CREDENTIALS = `
        a.id, a.user_type as "userType", a.password_hash as "passwordHash",
        a.must_change_password as "mustChangePassword", a.requires_password_setup as "requiresPasswordSetup",
        a.disabled_at is not null as disabled`;

/** The credentials behind an entry; one read and nothing found where there is no entry, so that both cost the same. */
export async function readCredentialsOf(
  db: Queryable,
  entry: DirectoryEntry | undefined,
): Promise<(AccountCredentials & SecondFactor) | undefined> {
  const { rows } = await db.query<AccountCredentials & SecondFactor>({
    name: 'account-credentials',
    text: `
      select ${CREDENTIALS}, ${SECOND_FACTOR_COLUMNS}
      from account a
      cross join ${rowsByIndex('role', 'r', { column: 'id', value: 'a.role_id' })} r
      where a.organisation_id = $1
        and a.id = $2`,
    values: [entry?.organisationId ?? NOBODY, entry?.userId ?? NOBODY],
  });
  return rows[0];
}

/**
 * Credentials by id, held until the transaction ends: a password change, a disabling or a reset of the account waits
 * for it, or it for them, so that no session is opened beside one of them. Second factors are read behind it: what the
 * statement that waited for the lock sees of other tables may be older.
 */
export async function lockCredentials(
  client: Client,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<AccountCredentials | undefined> {
  const { rows } = await client.query<AccountCredentials>({
    name: 'account-credentials-lock',
    text: `
      select ${CREDENTIALS}
      from account a
      where a.organisation_id = $1
        and a.id = $2
      for no key update`,
    values: [organisationId, accountId],
  });
  return rows[0];
}

/** A new password (null: none until a setup link sets it). */
export async function storePassword(
  db: Queryable,
  { organisationId }: OrganisationScope,
  change: { accountId: string; passwordHash: string | null; mustChangePassword: boolean; now: Date },
): Promise<void> {
  await db.query({
    name: 'account-password',
    text: `
      update account
      set
        password_hash = $3,
        must_change_password = $4,
        requires_password_setup = $3::text is null,
        password_changed_at = $5
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, change.accountId, change.passwordHash, change.mustChangePassword, change.now],
  });
}
