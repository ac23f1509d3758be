/** The organisation of the benchmark, and accounts with sessions. */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { createSigningKeys } from '../../src/sign-in/keys/signing-keys.ts';
import { issueAccessToken } from '../../src/sign-in/sessions/access-token.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import { PERMISSIONS } from '../../src/tenancy/roles/permissions.ts';

export interface Place {
  organisationId: string;
  facilityId: string;
}

export interface SignedIn {
  userId: string;
  sessionId: string;
  expiresAt: Date;
}

const LIFETIME_SECONDS = 86_400;

export async function createPlace(db: Pool, { organisationId, facilityId }: Place): Promise<void> {
  await createOrganisation(db, { id: organisationId, name: 'Bench' });
  await createFacility(db, { organisationId, id: facilityId, name: 'Bench' });
}

/** Accounts with every permission at the facility, each with a session that lasts a day. */
export async function createAccounts(
  db: Pool,
  { organisationId, facilityId }: Place,
  { count, passwordHash = null }: { count: number; passwordHash?: string | null },
): Promise<SignedIn[]> {
  const [now, roleId] = [new Date(), randomUUID()];
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1_000);
  const accounts = Array.from({ length: count }, () => ({
    userId: randomUUID(),
    sessionId: randomUUID(),
    expiresAt,
  }));
  const users = accounts.map(({ userId }) => userId);
  const run = (text: string, values: unknown[]) => db.query({ text, values });
  await run('insert into role (organisation_id, id, name, permissions) values ($1, $2, $3, $4)', [
    organisationId,
    roleId,
    roleId,
    Object.keys(PERMISSIONS),
  ]);
  await run(
    `insert into account_directory (user_id, email, organisation_id)
     select u, u || '@example.org', $2 from unnest($1::uuid[]) u`,
    [users, organisationId],
  );
  await run(
    `insert into account (organisation_id, id, user_type, role_id, default_facility_id, password_hash)
     select $2, u, 'EHR', $3, $4, $5 from unnest($1::uuid[]) u`,
    [users, organisationId, roleId, facilityId, passwordHash],
  );
  await run(
    `insert into account_facility (organisation_id, account_id, facility_id)
     select $2, u, $3 from unnest($1::uuid[]) u`,
    [users, organisationId, facilityId],
  );
  await run(
    `insert into session (organisation_id, id, account_id, created_at, expires_at)
     select $2, s, u, $4, $5 from unnest($1::uuid[], $3::uuid[]) t (u, s)`,
    [users, organisationId, accounts.map(({ sessionId }) => sessionId), now, expiresAt],
  );
  return accounts;
}

/** The access token of a new account. */
export async function signIn(db: Pool, keys: KeyRing, place: Place): Promise<string> {
  const [account] = await createAccounts(db, place, { count: 1 });
  if (account === undefined) throw new Error('No account was made.');
  const signingKeys = createSigningKeys({ db, keys, accessTokenSeconds: LIFETIME_SECONDS });
  return issueAccessToken(await signingKeys.signer(), {
    accountId: account.userId,
    sessionId: account.sessionId,
    now: new Date(),
    ttlSeconds: LIFETIME_SECONDS,
    sessionExpiresAt: account.expiresAt,
  });
}
