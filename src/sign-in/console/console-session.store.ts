/** SQL of sessions of the console. Each has its row in `session` as well. */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { SECOND_FACTOR_COLUMNS, type SecondFactor } from '../second-factor/second-factor.store.ts';
import {
  INSERT_SESSION,
  type NewSession,
  type RevocationReason,
  sessionValues,
} from '../sessions/session.store.ts';

export interface ConsoleSession extends SecondFactor {
  sessionId: string;
  accountId: string;
  /** A second factor was proven in it. */
  proven: boolean;
  lastUsedAt: Date;
  endsAt: Date;
  /** The time of the database. */
  now: Date;
}

export interface NewConsoleSession extends NewSession {
  tokenHash: Buffer;
  endsAt: Date;
  userAgent: string;
  network: string;
}

/** A session and its cookie. */
export async function insertConsoleSession(
  db: Queryable,
  scope: OrganisationScope,
  session: NewConsoleSession,
): Promise<void> {
  const { tokenHash, endsAt, userAgent, network } = session;
  await db.query({
    name: 'console-session-insert',
    text: `
      with ${INSERT_SESSION}
      insert into console_session (organisation_id, session_id, token_hash, last_used_at, ends_at, user_agent, network)
      select $1, id, $6, $4, $7, $8, $9
      from inserted`,
    values: [...sessionValues(scope, session), tokenHash, endsAt, userAgent, network],
  });
}

/** The live session of a token, with what its account has of second factors. */
export async function findConsoleSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { tokenHash, databaseTime }: { tokenHash: Buffer; databaseTime: DatabaseTime },
): Promise<ConsoleSession | undefined> {
  const { rows } = await db.query<ConsoleSession>({
    name: 'console-session-find',
    text: `
      select c.session_id as "sessionId", s.account_id as "accountId", c.proven, c.last_used_at as "lastUsedAt",
        c.ends_at as "endsAt", ${databaseTimeSql(3)} as now,
        ${SECOND_FACTOR_COLUMNS}
      from console_session c
      join session s
        on s.organisation_id = $1
        and s.id = c.session_id
      join account a
        on a.organisation_id = $1
        and a.id = s.account_id
      join role r
        on r.organisation_id = $1
        and r.id = a.role_id
      where c.organisation_id = $1
        and c.token_hash = $2
        and s.revoked_at is null
        and s.expires_at > ${databaseTimeSql(3)}
        and c.ends_at > ${databaseTimeSql(3)}`,
    values: [organisationId, tokenHash, databaseTime],
  });
  return rows[0];
}

/** Moves the idle end ahead. One that has passed stays passed, whoever is late. */
export async function moveIdleEnd(
  db: Queryable,
  { organisationId }: OrganisationScope,
  use: { sessionId: string; now: Date; expiresAt: Date },
): Promise<void> {
  await db.query({
    name: 'console-session-idle-end',
    text: `
      update session
      set expires_at = $3
      where organisation_id = $1
        and id = $2
        and expires_at > $4
        and expires_at < $3
        and revoked_at is null`,
    values: [organisationId, use.sessionId, use.expiresAt, use.now],
  });
  await db.query({
    name: 'console-session-used',
    text: `
      update console_session
      set last_used_at = $3
      where organisation_id = $1
        and session_id = $2
        and last_used_at < $3`,
    values: [organisationId, use.sessionId, use.now],
  });
}

/** Finishes a step of the sign-in: another token, and other ends. False when the session has ended, or was raised before. */
export async function raiseSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  step: { sessionId: string; tokenHash: Buffer; now: Date; expiresAt: Date; endsAt: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'console-session-raise',
    text: `
      with raised as (
        update console_session
        set proven = true, token_hash = $3, last_used_at = $4, ends_at = $5
        where organisation_id = $1
          and session_id = $2
          and not proven
          and ends_at > $4
        returning session_id
      )
      update session
      set expires_at = $6
      where organisation_id = $1
        and id = any(array(select session_id from raised))
        and expires_at > $4
        and revoked_at is null`,
    values: [organisationId, step.sessionId, step.tokenHash, step.now, step.endsAt, step.expiresAt],
  });
  return rowCount === 1;
}

/** The session goes on with another token. */
export async function renewToken(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { sessionId, tokenHash, proven }: { sessionId: string; tokenHash: Buffer; proven: boolean },
): Promise<void> {
  await db.query({
    name: 'console-session-renew',
    text: `
      update console_session
      set token_hash = $3, proven = proven or $4
      where organisation_id = $1
        and session_id = $2`,
    values: [organisationId, sessionId, tokenHash, proven],
  });
}

/** Ends the live session of a token; undefined when there is none. */
export async function revokeSessionOfToken(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { tokenHash, now }: { tokenHash: Buffer; now: Date },
): Promise<{ sessionId: string; accountId: string } | undefined> {
  const { rows } = await db.query<{ sessionId: string; accountId: string }>({
    name: 'console-session-replace',
    text: `
      update session s
      set revoked_at = $3, revoked_reason = $4
      from console_session c
      where s.organisation_id = $1
        and s.revoked_at is null
        and s.expires_at > $3
        and c.organisation_id = $1
        and c.session_id = s.id
        and c.token_hash = $2
      returning s.id as "sessionId", s.account_id as "accountId"`,
    values: [organisationId, tokenHash, now, 'signed-in-again' satisfies RevocationReason],
  });
  return rows[0];
}

/** Ends the sessions of an account in which no second factor was proven. */
export async function revokeUnprovenSessions(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> {
  await db.query({
    name: 'console-sessions-revoke-unproven',
    text: `
      update session s
      set revoked_at = $3, revoked_reason = $4
      from console_session c
      where s.organisation_id = $1
        and s.account_id = $2
        and s.revoked_at is null
        and c.organisation_id = $1
        and c.session_id = s.id
        and not c.proven`,
    values: [organisationId, accountId, now, 'second-factor-removed' satisfies RevocationReason],
  });
}

/** In the sessions of an account no second factor is proven any more: the one that was is gone. */
export async function forgetProofs(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<void> {
  await db.query({
    name: 'console-sessions-forget-proofs',
    text: `
      update console_session c
      set proven = false
      from session s
      where c.organisation_id = $1
        and c.proven
        and s.organisation_id = $1
        and s.id = c.session_id
        and s.account_id = $2
        and s.revoked_at is null`,
    values: [organisationId, accountId],
  });
}
