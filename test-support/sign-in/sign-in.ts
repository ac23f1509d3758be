/** Sign-in on a database of its own, with accounts that have passwords; for tests of its use cases. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createKeyRing, type KeyRing } from '../../src/platform/crypto/key-ring.ts';
import { watchClock } from '../../src/platform/db/clock-watch.ts';
import type { LogFields } from '../../src/platform/log/log.ts';
import type { UserType } from '../../src/sign-in/accounts/account.store.ts';
import { type CreatedAccount, createAccount } from '../../src/sign-in/accounts/create-account.ts';
import type { PasswordSource } from '../../src/sign-in/accounts/initial-password.ts';
import { createPasswords, type Passwords } from '../../src/sign-in/credentials/password.ts';
import type { SignInSettings } from '../../src/sign-in/settings.ts';
import { createSignIn, type SignIn } from '../../src/sign-in/sign-in.ts';
import { OPERATOR } from '../../src/tenancy/administration/author.ts';
import { createRole } from '../../src/tenancy/roles/roles.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { createPlace } from '../records/place.ts';
import { answered } from '../service/worded-errors.ts';

/** Argon2id that costs tests little; production's cost is tested where it matters. */
export const CHEAP_COST = { memoryKiB: 64, passes: 1, parallelism: 1 };
export const PASSWORD = 'a long enough passphrase';

export interface SignInFixture extends SignInTenant {
  database: TestDatabase;
  keys: KeyRing;
  /** With cheap hashing. */
  signIn: SignIn;
  /** What was logged. */
  logged: LogFields[];
  /** Sign-in of another process on the same database. */
  another(settings?: Partial<SignInSettings>): SignIn;
  addAccount(options?: AccountFixture): Promise<CreatedAccount>;
  close(): Promise<void>;
}

export interface SignInTenant {
  organisationId: string;
  facilityId: string;
  role: string;
}

export interface AccountFixture {
  email?: string;
  userType?: UserType;
  password?: PasswordSource;
  mustChangePassword?: boolean;
}

export async function createSignInFixture(settings: Partial<SignInSettings> = {}): Promise<SignInFixture> {
  const database = await createTestDatabase();
  const db = database.pool;
  const keys = createKeyRing(randomBytes(32));
  const logged: LogFields[] = [];
  const log = { info: (fields: LogFields) => void logged.push(fields) };
  const passwords = cheapPasswords(settings);
  const clock = await watchClock({
    db,
    now: () => new Date(),
    databaseTime: () => null,
    maxSkewSeconds: 30,
    onChange: () => assert.fail('the clock of this machine and that of its database differ'),
  });
  const tenant = await addTenant(database);
  const another = (changed: Partial<SignInSettings> = settings): SignIn => ({
    ...createSignIn({ db, keys, log, clock, settings: changed }),
    passwords,
  });
  return {
    ...tenant,
    database,
    keys,
    logged,
    signIn: another(),
    another,
    addAccount: (options) => addAccount({ database, passwords }, tenant, options),
    async close() {
      clock.close();
      await database.drop();
    },
  };
}

export async function addTenant(database: TestDatabase): Promise<SignInTenant> {
  const { organisationId, facilityId } = await createPlace(database.pool);
  const role = 'reader';
  const reading = { organisationId, name: role, permissions: ['encounters.access'] };
  await createRole(database.pool, reading, OPERATOR);
  return { organisationId, facilityId, role };
}

/** An account with {@link PASSWORD}, unless said otherwise. */
export async function addAccount(
  { database, passwords }: { database: TestDatabase; passwords: Passwords },
  { organisationId, facilityId, role }: SignInTenant,
  options: AccountFixture = {},
): Promise<CreatedAccount> {
  return createAccount(
    { db: database.pool, passwords, publicBaseUrl: 'https://records.example.org/api/v1' },
    {
      organisationId,
      facilityIds: [facilityId],
      email: options.email ?? `system-${randomUUID()}@example.org`,
      role: { name: role },
      userType: options.userType ?? 'EHR',
      password: options.password ?? { kind: 'given', password: PASSWORD },
      mustChangePassword: options.mustChangePassword ?? false,
    },
    { now: new Date(), author: OPERATOR },
  );
}

export function cheapPasswords(settings: Partial<SignInSettings> = {}): Passwords {
  return createPasswords({ hashConcurrency: 2, hashQueue: 32, ...settings, cost: CHEAP_COST });
}

/** Open every connection of the pool, so that what starts together afterwards does run together. */
export async function warmUp({ pool }: TestDatabase): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 10 }, () => pool.connect()));
  for (const client of clients) client.release();
}

/** The status of the HttpError that a promise rejects with; undefined when it resolves. */
export async function statusOf(work: Promise<unknown>): Promise<number | undefined> {
  return (await refusalOf(work))?.statusCode;
}

export interface Refusal {
  statusCode: number;
  code: string;
  message: string;
  headers: Record<string, string>;
}

export async function refusalOf(work: Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await answered(() => work);
    return undefined;
  } catch (error) {
    if ((error as Error).name !== 'HttpError') throw error;
    const { statusCode, code, message, headers } = error as Error & Refusal;
    return { statusCode, code, message, headers };
  }
}
