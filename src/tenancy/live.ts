/**
 * How nodes learn at once that an account, role, module or session changed (docs/adr/0004).
 * Contract: ACC-16.
 */
import type { Queryable } from '../platform/db/database.ts';

export const LIVE_CHANNEL = 'interchange_live';

/** What changed: one session, or anything else of an organisation. */
export interface LiveChange {
  organisationId: string;
  sessionId?: string;
}

/**
 * Tell every node, in the caller's transaction: nodes hear of it when it commits. Ids may be in either case, as
 * operators type them.
 */
export async function notifyLive(db: Queryable, change: LiveChange): Promise<void> {
  const { organisationId, sessionId } = change;
  const told: LiveChange = {
    organisationId: organisationId.toLowerCase(),
    ...(sessionId === undefined ? {} : { sessionId: sessionId.toLowerCase() }),
  };
  await db.query({
    name: 'live-notify',
    text: 'select pg_notify($1, $2)',
    values: [LIVE_CHANNEL, JSON.stringify(told)],
  });
}

/** Read a notification; undefined when it is not one of ours. */
export function parseLiveChange(payload: string): LiveChange | undefined {
  try {
    const change = JSON.parse(payload) as LiveChange;
    return typeof change.organisationId === 'string' ? change : undefined;
  } catch {
    return undefined;
  }
}
