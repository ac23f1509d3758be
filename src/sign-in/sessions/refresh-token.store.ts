/**
 * Refresh tokens at rest: their hash, when they were exchanged, and the sealed pair that replaced them.
 * Contract: SIGN-IN-32.
 */
import type { Client, Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';

export interface StoredRefreshToken {
  /** The time of the database when the token was read. */
  now: Date;
  sessionId: string;
  expiresAt: Date;
  exchangedAt: Date | null;
  sealedReplacement: Buffer | null;
  sessionExpiresAt: Date;
  sessionRevoked: boolean;
  accountId: string;
  userType: UserType;
  mustChangePassword: boolean;
  accountDisabled: boolean;
}

export async function insertRefreshToken(
  db: Queryable,
  { organisationId }: OrganisationScope,
  token: { tokenHash: Buffer; sessionId: string; issuedAt: Date; expiresAt: Date },
): Promise<void> {
  await db.query({
    name: 'refresh-token-insert',
    text: `
      insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
      values ($1, $2, $3, $4, $5)`,
    values: [organisationId, token.tokenHash, token.sessionId, token.issuedAt, token.expiresAt],
  });
}

/** The token with its session and account, its row locked: refreshes that race take turns and see the exchange. */
export async function lockRefreshToken(
  client: Client,
  { organisationId }: OrganisationScope,
  { tokenHash, databaseTime }: { tokenHash: Buffer; databaseTime: DatabaseTime },
): Promise<StoredRefreshToken | undefined> {
  const { rows } = await client.query<StoredRefreshToken>({
    name: 'refresh-token-lock',
    text: `
      select ${databaseTimeSql(3)} as now, t.session_id as "sessionId", t.expires_at as "expiresAt",
        t.exchanged_at as "exchangedAt", t.sealed_replacement as "sealedReplacement",
        s.expires_at as "sessionExpiresAt", s.revoked_at is not null as "sessionRevoked",
        a.id as "accountId", a.user_type as "userType", a.must_change_password as "mustChangePassword",
        a.disabled_at is not null as "accountDisabled"
      from refresh_token t
      join session s
        on s.organisation_id = $1
        and s.id = t.session_id
      join account a
        on a.organisation_id = $1
        and a.id = s.account_id
      where t.organisation_id = $1
        and t.token_hash = $2
      for no key update of t`,
    values: [organisationId, tokenHash, databaseTime],
  });
  return rows[0];
}

export interface Exchange {
  tokenHash: Buffer;
  sessionId: string;
  exchangedAt: Date;
  sealedReplacement: Buffer;
  /** Sealed pairs of the session that were exchanged before this are erased. */
  eraseBefore: Date;
}

/**
 * Keep the exchange, and erase what earlier ones of the session left, so that sealed pairs go also where no
 * worker sweeps. Skips what a sweep is erasing at the moment, so that neither waits.
 */
export async function markExchanged(
  client: Client,
  { organisationId }: OrganisationScope,
  exchange: Exchange,
): Promise<void> {
  await client.query({
    name: 'refresh-token-exchange',
    text: `
      with ended as (
        select token_hash
        from refresh_token
        where organisation_id = $1
          and session_id = $5
          and sealed_replacement is not null
          and exchanged_at < $6
        for no key update skip locked
      ), erased as (
        update refresh_token t
        set sealed_replacement = null
        from ended
        where t.organisation_id = $1
          and t.token_hash = ended.token_hash
      )
      update refresh_token
      set exchanged_at = $3, sealed_replacement = $4
      where organisation_id = $1
        and token_hash = $2`,
    values: [
      organisationId,
      exchange.tokenHash,
      exchange.exchangedAt,
      exchange.sealedReplacement,
      exchange.sessionId,
      exchange.eraseBefore,
    ],
  });
}
