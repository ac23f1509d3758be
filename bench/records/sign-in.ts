/** An account with a session for the benchmark, and its access token. */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { createSigningKeys } from '../../src/sign-in/keys/signing-keys.ts';
import { issueAccessToken } from '../../src/sign-in/sessions/access-token.ts';

const LIFETIME_SECONDS = 86_400;

export async function signIn(
  db: Pool,
  { organisationId, facilityId, keys }: { organisationId: string; facilityId: string; keys: KeyRing },
): Promise<string> {
  const now = new Date();
  const [userId, roleId, sessionId] = [randomUUID(), randomUUID(), randomUUID()];
  const run = (text: string, parameters: unknown[]) => db.query({ text, values: parameters });
  await run('insert into organisation (id, name) values ($1, $2) on conflict do nothing', [
    organisationId,
    'Bench',
  ]);
  await run('insert into facility (organisation_id, id, name) values ($1, $2, $3) on conflict do nothing', [
    organisationId,
    facilityId,
    'Bench',
  ]);
  await run(
    `insert into facility_module (organisation_id, facility_id, module)
     select $1, $2, unnest(array['patients', 'encounters', 'vitals', 'lab', 'imaging']) on conflict do nothing`,
    [organisationId, facilityId],
  );
  await run('insert into role (organisation_id, id, name, permissions) values ($1, $2, $3, $4)', [
    organisationId,
    roleId,
    roleId,
    ['encounters.access', 'patients.patients.list', 'patients.patients.get', 'investigations.lab.list'],
  ]);
  await run('insert into account_directory (user_id, email, organisation_id) values ($1, $2, $3)', [
    userId,
    `${userId}@example.org`,
    organisationId,
  ]);
  await run(
    `insert into account (organisation_id, id, user_type, role_id, default_facility_id) values ($1, $2, 'EHR', $3, $4)`,
    [organisationId, userId, roleId, facilityId],
  );
  await run('insert into account_facility (organisation_id, account_id, facility_id) values ($1, $2, $3)', [
    organisationId,
    userId,
    facilityId,
  ]);
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1_000);
  await run(
    'insert into session (organisation_id, id, account_id, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    [organisationId, sessionId, userId, now, expiresAt],
  );
  return issueAccessToken(createSigningKeys({ db, keys, accessTokenSeconds: LIFETIME_SECONDS }), {
    accountId: userId,
    sessionId,
    now,
    ttlSeconds: LIFETIME_SECONDS,
    sessionExpiresAt: expiresAt,
  });
}
