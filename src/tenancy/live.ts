/** How nodes learn at once that an account, role, module or session changed (design 3.1, docs/adr/0004). */
import type { Queryable } from '../platform/db/database.ts';

export const LIVE_CHANNEL = 'interchange_live';

/** What changed: one session, or anything else of an organisation. */
export interface LiveChange {
  organisationId: string;
  sessionId?: string;
}

/** Tell every node, in the caller's transaction: nodes hear of it when it commits. */
export async function notifyLive(db: Queryable, change: LiveChange): Promise<void> {
  await db.query({
    name: 'live-notify',
    text: 'select pg_notify($1, $2)',
    values: [LIVE_CHANNEL, JSON.stringify(change)],
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
