/** SQL of passkeys, and of the challenge that a session waits to have answered. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface Passkey {
  id: string;
  /** base64url, as WebAuthn sends it. */
  credentialId: string;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type ChallengePurpose = 'add' | 'sign-in';

export async function listPasskeys(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<Passkey[]> {
  const { rows } = await db.query<Passkey>({
    name: 'passkey-list',
    text: `
      select id, credential_id as "credentialId", public_key as "publicKey", counter, transports, name,
        created_at as "createdAt", last_used_at as "lastUsedAt"
      from account_passkey
      where organisation_id = $1
        and account_id = $2
      order by created_at, id`,
    values: [organisationId, accountId],
  });
  return rows;
}

/** False when the organisation knows the credential already. */
export async function insertPasskey(
  db: Queryable,
  { organisationId }: OrganisationScope,
  passkey: Omit<Passkey, 'lastUsedAt'> & { accountId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'passkey-insert',
    text: `
      insert into account_passkey (organisation_id, id, account_id, credential_id, public_key, counter, transports,
        name, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict do nothing`,
    values: [
      organisationId,
      passkey.id,
      passkey.accountId,
      passkey.credentialId,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      passkey.name,
      passkey.createdAt,
    ],
  });
  return rowCount === 1;
}

/** False when the passkey is gone, or its counter has moved since it was read: then one of two is a copy. */
export async function usePasskey(
  db: Queryable,
  { organisationId }: OrganisationScope,
  use: { id: string; from: number; counter: number; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'passkey-use',
    text: `
      update account_passkey
      set counter = $4, last_used_at = $5
      where organisation_id = $1
        and id = $2
        and counter = $3`,
    values: [organisationId, use.id, use.from, use.counter, use.now],
  });
  return rowCount === 1;
}

/** All of the account, or the one with `id`. False when there was none. */
export async function deletePasskeys(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
  id: string | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'passkey-delete',
    text: `
      delete from account_passkey
      where organisation_id = $1
        and account_id = $2
        and ($3::uuid is null or id = $3)`,
    values: [organisationId, accountId, id],
  });
  return (rowCount ?? 0) > 0;
}

/** The one challenge of a session; the one before is forgotten. */
export async function storeChallenge(
  db: Queryable,
  { organisationId }: OrganisationScope,
  challenge: { sessionId: string; challenge: string; purpose: ChallengePurpose; until: Date },
): Promise<void> {
  await db.query({
    name: 'passkey-challenge-store',
    text: `
      update console_session
      set challenge = $3, challenge_purpose = $4, challenge_until = $5
      where organisation_id = $1
        and session_id = $2`,
    values: [organisationId, challenge.sessionId, challenge.challenge, challenge.purpose, challenge.until],
  });
}

/** The challenge, once: whatever becomes of the answer, it is gone. One statement, so that answers that race get one. */
export async function takeChallenge(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { sessionId, purpose, now }: { sessionId: string; purpose: ChallengePurpose; now: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ challenge: string }>({
    name: 'passkey-challenge-take',
    text: `
      update console_session c
      set challenge = null, challenge_purpose = null, challenge_until = null
      from console_session taken
      where c.organisation_id = $1
        and c.session_id = $2
        and taken.organisation_id = $1
        and taken.session_id = c.session_id
        and c.challenge = taken.challenge
        and c.challenge_purpose = $3
        and c.challenge_until > $4
      returning taken.challenge`,
    values: [organisationId, sessionId, purpose, now],
  });
  return rows[0]?.challenge;
}
