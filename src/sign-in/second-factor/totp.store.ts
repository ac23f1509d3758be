/** SQL of authenticator apps: the one of an account, and the one that a session is adding. */
import type { ResealedRow } from '../../platform/crypto/sealed-table.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/** An app of an account: its secret, and when it was added, which tells it from one that comes after it. */
export interface StoredTotp {
  sealed: Buffer;
  createdAt: Date;
}

export async function readTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<StoredTotp | undefined> {
  const { rows } = await db.query<StoredTotp>({
    name: 'totp-read',
    text: `
      select sealed_secret as sealed, created_at as "createdAt"
      from account_totp
      where organisation_id = $1
        and account_id = $2`,
    values: [organisationId, accountId],
  });
  return rows[0];
}

/**
 * Takes a time step once. False when its code, or that of a later step, was used, or the app is another one by now. Not by
 * its sealed secret: a rotation of the master key may have sealed that anew since it was read.
 */
export async function takeTotpStep(
  db: Queryable,
  { organisationId }: OrganisationScope,
  use: { accountId: string; createdAt: Date; step: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'totp-take-step',
    text: `
      update account_totp
      set last_step = $4
      where organisation_id = $1
        and account_id = $2
        and created_at = $3
        and last_step < $4`,
    values: [organisationId, use.accountId, use.createdAt, use.step],
  });
  return rowCount === 1;
}

/** False when the account has an app already. */
export async function insertTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  totp: { accountId: string; sealed: Buffer; step: number; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'totp-insert',
    text: `
      insert into account_totp (organisation_id, account_id, sealed_secret, last_step, created_at)
      values ($1, $2, $3, $4, $5)
      on conflict do nothing`,
    values: [organisationId, totp.accountId, totp.sealed, totp.step, totp.now],
  });
  return rowCount === 1;
}

/** False when there was none. */
export async function deleteTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'totp-delete',
    text: `
      delete from account_totp
      where organisation_id = $1
        and account_id = $2`,
    values: [organisationId, accountId],
  });
  return rowCount === 1;
}

/** What a session shows and has not confirmed; one that it showed before is forgotten. */
export async function storePendingTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  pending: { sessionId: string; sealed: Buffer; until: Date },
): Promise<void> {
  await db.query({
    name: 'totp-pending-store',
    text: `
      update console_session
      set pending_totp = $3, pending_totp_until = $4
      where organisation_id = $1
        and session_id = $2`,
    values: [organisationId, pending.sessionId, pending.sealed, pending.until],
  });
}

export async function readPendingTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { sessionId, now }: { sessionId: string; now: Date },
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed: Buffer }>({
    name: 'totp-pending-read',
    text: `
      select pending_totp as sealed
      from console_session
      where organisation_id = $1
        and session_id = $2
        and pending_totp is not null
        and pending_totp_until > $3`,
    values: [organisationId, sessionId, now],
  });
  return rows[0]?.sealed;
}

/** False when the session has shown another one since, or this one is confirmed. */
export async function takePendingTotp(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { sessionId, sealed }: { sessionId: string; sealed: Buffer },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'totp-pending-take',
    text: `
      update console_session
      set pending_totp = null, pending_totp_until = null
      where organisation_id = $1
        and session_id = $2
        and pending_totp = $3`,
    values: [organisationId, sessionId, sealed],
  });
  return rowCount === 1;
}

export async function listTotpSecrets(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<{ accountId: string; sealed: Buffer }[]> {
  const { rows } = await db.query<{ accountId: string; sealed: Buffer }>({
    name: 'totp-list',
    text: `
      select account_id as "accountId", sealed_secret as sealed
      from account_totp
      where organisation_id = $1`,
    values: [organisationId],
  });
  return rows;
}

/** Seal anew, for a rotation of the master key. */
export async function replaceTotpSecrets(db: Queryable, rows: readonly ResealedRow[]): Promise<void> {
  for (const { id, sealed, resealed } of rows)
    await db.query({
      name: 'totp-replace',
      text: `
        update account_totp
        set sealed_secret = $4
        where organisation_id = $1
          and account_id = $2
          and sealed_secret = $3`,
      values: [id[0], id[1], sealed, resealed],
    });
}
