/** How long PostgreSQL lets each kind of work take, from the environment. Contract: HTTP-24. */
import type { TimeLimits } from '../../platform/db/database.ts';
import type { EnvironmentReader } from './environment.ts';

export interface WorkLimits {
  /** What a caller waits for, and the access log. */
  requests: TimeLimits;
  /** Imports, deliveries and housekeeping. */
  background: TimeLimits;
}

/** Longer than any use case takes between two statements, and short enough to give the locks of a lost one back. */
const IDLE_IN_TRANSACTION_MS = 60_000;

export function timeLimits(reader: EnvironmentReader): WorkLimits {
  const milliseconds = (name: string, fallback: number) =>
    reader.integer(name, { min: 0, max: 86_400, fallback }) * 1_000;
  const longMs = milliseconds('DATABASE_LONG_STATEMENT_SECONDS', 600);
  return {
    requests: {
      statementMs: milliseconds('DATABASE_STATEMENT_SECONDS', 30),
      lockMs: milliseconds('DATABASE_LOCK_SECONDS', 10),
      idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
    },
    background: { statementMs: longMs, lockMs: longMs, idleInTransactionMs: longMs },
  };
}
