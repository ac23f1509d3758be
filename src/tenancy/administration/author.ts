/** Who changes something in the administration of an organisation. */
export type Author =
  /** Whoever runs the command line; no rule of an organisation holds for them. */
  | { kind: 'operator' }
  /** With the session of the call, where it has one. */
  | { kind: 'account'; accountId: string; sessionId?: string | undefined; correlationId: string };

export const OPERATOR: Author = { kind: 'operator' };

/** The caller of a route. */
export function authorOf(context: {
  caller: { accountId: string; sessionId?: string | undefined };
  correlationId: string;
}): Author {
  const { caller, correlationId } = context;
  const { accountId, sessionId } = caller;
  return { kind: 'account', accountId, sessionId, correlationId };
}
