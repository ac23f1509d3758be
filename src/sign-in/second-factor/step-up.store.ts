/** SQL of a session of the console that goes up a step: it gets another token, and its ends. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface StepUp {
  sessionId: string;
  tokenHash: Buffer;
  now: Date;
  expiresAt: Date;
  endsAt: Date;
}

/** False when the session has ended, or went up already. */
export async function raiseSession(
  db: Queryable,
  { organisationId }: OrganisationScope,
  step: StepUp,
): Promise<boolean> {
  const raised = await db.query({
    name: 'console-session-raise',
    text: `
      update console_session
      set proven = true, token_hash = $3, last_used_at = $4, ends_at = $5
      where organisation_id = $1
        and session_id = $2
        and not proven
        and ends_at > $4`,
    values: [organisationId, step.sessionId, step.tokenHash, step.now, step.endsAt],
  });
  if (raised.rowCount !== 1) return false;
  const { rowCount } = await db.query({
    name: 'console-session-raise-end',
    text: `
      update session
      set expires_at = $3
      where organisation_id = $1
        and id = $2
        and expires_at > $4
        and revoked_at is null`,
    values: [organisationId, step.sessionId, step.expiresAt, step.now],
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
