/**
 * Refresh tokens at rest: their hash, when they were exchanged, and the sealed pair that replaced them.
 * Contract: SIGN-IN-32.
 */
import { rowByKey } from '../../platform/db/by-key.ts';
import type { Client, Queryable } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { UserType } from '../accounts/account.store.ts';
import { INSERT_SESSION, type NewSession, sessionValues } from './session.store.ts';

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

/** A session with its first token. */
export async function insertTokenSession(
  db: Queryable,
  scope: OrganisationScope,
  { session, token }: { session: NewSession; token: { hash: Buffer; expiresAt: Date } },
): Promise<void> {
  await db.query({
    name: 'token-session-insert',
    text: `
      with ${INSERT_SESSION}
      insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
      select $1, $6, id, $4, $7
      from inserted`,
    values: [...sessionValues(scope, session), token.hash, token.expiresAt],
  });
}

export interface WantedToken {
  scope: OrganisationScope;
  tokenHash: Buffer;
  databaseTime: DatabaseTime;
}

export interface Exchange {
  scope: OrganisationScope;
  tokenHash: Buffer;
  sessionId: string;
  /** By the clock of the database: when it is kept, which may be long after the token was read. */
  exchangedAt: DatabaseTime;
  sealedReplacement: Buffer;
  /** The hash of the token that replaces it, and when that expires. */
  nextHash: Buffer;
  nextExpiresAt: Date;
  /** Sealed pairs of the session that were exchanged before this are erased. */
  eraseBefore: Date;
}

/** Refresh tokens of all organisations; calls of one organisation that come together share a round trip. */
export interface RefreshTokens {
  /** The token with its session and account. */
  read(wanted: WantedToken): Promise<StoredRefreshToken | undefined>;
  /** Keep an exchange, with the next token. False, and nothing is kept, when the token cannot be exchanged now. */
  exchange(exchange: Exchange): Promise<boolean>;
}

/** Tokens in one statement, and statements of a kind under way, at most. */
const MAX_TOKENS = 100;
const MAX_IN_FLIGHT = 2;

export function createRefreshTokens(db: Queryable): RefreshTokens {
  const limits = { maxKeys: MAX_TOKENS, maxInFlight: MAX_IN_FLIGHT };
  return {
    read: createOrganisationBatcher({
      ...limits,
      load: (organisationId, wanted: readonly WantedToken[]) =>
        readRefreshTokens(db, { organisationId }, wanted),
    }),
    exchange: createOrganisationBatcher({
      ...limits,
      load: (organisationId, exchanges: readonly Exchange[]) =>
        exchangeRefreshTokens(db, { organisationId }, exchanges),
    }),
  };
}

/** By whole keys, each looked up by itself: without statistics the planner would read all rows of the organisation. */
const read = (lock: string) => `
      select w.place, coalesce(w.now, clock_timestamp()) as now, t.session_id as "sessionId",
        t.expires_at as "expiresAt", t.exchanged_at as "exchangedAt", t.sealed_replacement as "sealedReplacement",
        s.expires_at as "sessionExpiresAt", s.revoked_at is not null as "sessionRevoked",
        a.id as "accountId", a.user_type as "userType", a.must_change_password as "mustChangePassword",
        a.disabled_at is not null as "accountDisabled"
      from unnest($2::bytea[], $3::timestamptz[]) with ordinality as w (token_hash, now, place)
      cross join lateral (
        select session_id, expires_at, exchanged_at, sealed_replacement
        from refresh_token
        where organisation_id = $1
          and token_hash = w.token_hash
        offset 0
        ${lock}
      ) t
      cross join ${rowByKey('session', 's', { id: 't.session_id' })} s
      cross join ${rowByKey('account', 'a', { id: 's.account_id' })} a`;

const [READ, READ_LOCKED] = [read(''), read('for no key update')];

async function readRefreshTokens(
  db: Queryable,
  { organisationId }: OrganisationScope,
  wanted: readonly WantedToken[],
  { lock = false } = {},
): Promise<(StoredRefreshToken | undefined)[]> {
  const { rows } = await db.query<StoredRefreshToken & { place: number }>({
    name: lock ? 'refresh-token-lock' : 'refresh-token-read',
    text: lock ? READ_LOCKED : READ,
    values: [
      organisationId,
      wanted.map(({ tokenHash }) => tokenHash),
      wanted.map(({ databaseTime }) => databaseTime),
    ],
  });
  const found = new Array<StoredRefreshToken | undefined>(wanted.length).fill(undefined);
  for (const { place, ...stored } of rows) found[place - 1] = stored;
  return found;
}

/** As it is read, its row locked: refreshes that race take turns and see the exchange. */
export async function lockRefreshToken(
  client: Client,
  wanted: WantedToken,
): Promise<StoredRefreshToken | undefined> {
  const [stored] = await readRefreshTokens(client, wanted.scope, [wanted], { lock: true });
  return stored;
}

/**
 * Exchange tokens of one organisation, each for the next one: which of them were exchanged now. Not those that were before,
 * those that somebody else is exchanging, and those of a session that has been ended meanwhile. So no exchange waits for
 * another, and of equal tokens one is exchanged.
 *
 * Erases what earlier exchanges of the sessions left, so that sealed pairs go also where no worker sweeps. Skips what a
 * sweep is erasing at the moment, so that neither waits.
 */
export async function exchangeRefreshTokens(
  db: Queryable,
  { organisationId }: OrganisationScope,
  exchanges: readonly Exchange[],
): Promise<boolean[]> {
  const column = <T>(read: (exchange: Exchange) => T): T[] => exchanges.map(read);
  const { rows } = await db.query<{ hash: Buffer }>({
    name: 'refresh-token-exchange',
    text: `
      with wanted as (
        select token_hash, session_id, coalesce(exchanged_at, clock_timestamp()) as exchanged_at, sealed_replacement,
          next_hash, next_expires_at, erase_before
        from unnest($2::bytea[], $3::uuid[], $4::timestamptz[], $5::bytea[], $6::bytea[], $7::timestamptz[],
          $8::timestamptz[])
          as w (token_hash, session_id, exchanged_at, sealed_replacement, next_hash, next_expires_at, erase_before)
      ), ended as (
        select t.token_hash
        from wanted w
        cross join lateral (
          select token_hash
          from refresh_token
          where organisation_id = $1
            and session_id = w.session_id
            and sealed_replacement is not null
            and exchanged_at < w.erase_before
          for no key update skip locked
        ) t
      ), erased as (
        update refresh_token
        set sealed_replacement = null
        where organisation_id = $1
          and token_hash = any(array(select token_hash from ended))
      ), free as (
        select w.*
        from wanted w
        cross join lateral (
          select session_id
          from refresh_token
          where organisation_id = $1
            and token_hash = w.token_hash
            and exchanged_at is null
          for no key update skip locked
        ) t
        cross join lateral (
          select revoked_at is null as live
          from session
          where organisation_id = $1
            and id = t.session_id
          offset 0
        ) s
        where s.live
      ), exchanged as (
        update refresh_token t
        set exchanged_at = free.exchanged_at, sealed_replacement = free.sealed_replacement
        from free
        where t.organisation_id = $1
          and t.token_hash = any(array(select token_hash from free))
          and t.token_hash = free.token_hash
        returning free.next_hash, t.session_id, free.exchanged_at, free.next_expires_at
      )
      insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
      select $1, next_hash, session_id, exchanged_at, next_expires_at
      from exchanged
      returning token_hash as hash`,
    values: [
      organisationId,
      column((e) => e.tokenHash),
      column((e) => e.sessionId),
      column((e) => e.exchangedAt),
      column((e) => e.sealedReplacement),
      column((e) => e.nextHash),
      column((e) => e.nextExpiresAt),
      column((e) => e.eraseBefore),
    ],
  });
  const kept = new Set(rows.map(({ hash }) => hash.toString('base64')));
  return exchanges.map(({ nextHash }) => kept.has(nextHash.toString('base64')));
}
