/** Who changes something in the administration of an organisation. */
export type Author =
  /** Whoever runs the command line; no rule of an organisation holds for them. */
  { kind: 'operator' } | { kind: 'account'; accountId: string; correlationId: string };

export const OPERATOR: Author = { kind: 'operator' };

/** The caller of a route. */
export function authorOf(context: { caller: { accountId: string }; correlationId: string }): Author {
  const { caller, correlationId } = context;
  return { kind: 'account', accountId: caller.accountId, correlationId };
}
