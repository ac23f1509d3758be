/** Who changes something in the administration of an organisation. */
import type { DatabaseTime } from '../../platform/db/database-time.ts';

export type Author =
  /** Whoever runs the command line; no rule of an organisation holds for them. */
  | { kind: 'operator' }
  /** With the session of the call, where it has one, and the time that statements of the call take for now. */
  | {
      kind: 'account';
      accountId: string;
      sessionId?: string | undefined;
      correlationId: string;
      databaseTime?: DatabaseTime | undefined;
    };

export const OPERATOR: Author = { kind: 'operator' };

/** The caller of a route. */
export function authorOf(context: {
  caller: { accountId: string; sessionId?: string | undefined };
  correlationId: string;
  databaseTime?: DatabaseTime;
}): Author {
  const { caller, correlationId, databaseTime } = context;
  const { accountId, sessionId } = caller;
  return { kind: 'account', accountId, sessionId, correlationId, databaseTime };
}
