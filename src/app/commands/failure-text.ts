/** How a failure is worded for the operator. */
import { DatabaseError } from 'pg';
import { CommandError } from '../../platform/command/command.ts';
import { MigrationError } from '../../platform/db/migrate.ts';

/**
 * What the operator is told. Messages of the database driver may quote data, so only its code is shown. `variable` holds
 * the URL of the database that failed.
 */
export function failureText(error: unknown, variable = 'DATABASE_URL'): string {
  if (!(error instanceof Error)) return 'the command failed for an unknown reason';
  const { code } = error as { code?: unknown };
  const ours =
    error instanceof CommandError || error instanceof MigrationError || error.name === 'ConfigError';
  const told = ['EmbeddedPostgresError', 'HttpError', 'NoServerError'];
  if (ours || told.includes(error.name)) return error.message;
  if (code === 'ECONNREFUSED')
    return `the database of ${variable} refuses connections. Check that it is running.`;
  if (typeof code === 'string' && /^28/.test(code))
    return `the database refuses the user or password of ${variable}. Correct them.`;
  if (error instanceof DatabaseError && (code === '42P05' || code === '26000'))
    return 'a pooler in front of the database gives each transaction another connection. Set it to session mode. See docs/operations.md, "PgBouncer".';
  if (code === '3D000') return `the database named in ${variable} does not exist. Create it first.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `the host of ${variable} is unknown. Correct the name.`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full. Free some space, then try again.';
  if (error instanceof DatabaseError) return `the database refused a statement (SQLSTATE ${error.code})`;
  return `${error.name}${typeof code === 'string' ? ` (${code})` : ''}: ${error.message}`;
}
