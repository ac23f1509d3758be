/** How a failure is worded for the operator. */
import { DatabaseError } from 'pg';
import { CommandError } from '../../platform/command/command.ts';
import { WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import { MigrationError } from '../../platform/db/migrate.ts';
import { isOfConnection, NO_TLS, NoServerError } from '../../platform/db/unavailable.ts';

export interface Failure {
  /** What happened. */
  text: string;
  /** What to do, where it is not in the text. */
  remedy?: string;
}

/** What the operator is told, in one text. See {@link failureOf}. */
export function failureText(error: unknown): string {
  const { text, remedy } = failureOf(error);
  return remedy === undefined ? text : `${text} ${remedy}`;
}

/**
 * Messages of the database driver may quote data, so only its code is shown. `variable` holds the URL of the database
 * that failed.
 */
export function failureOf(error: unknown, variable = 'DATABASE_URL'): Failure {
  if (!(error instanceof Error)) return { text: 'the command failed for an unknown reason' };
  if (error instanceof NoServerError || error instanceof WrongMasterKeyError)
    return { text: error.reason, remedy: error.remedy };
  const told = ['ConfigError', 'EmbeddedPostgresError'];
  if (error instanceof CommandError || error instanceof MigrationError || told.includes(error.name))
    return { text: error.message };
  return failureOfCode(error, variable);
}

function failureOfCode(error: Error, variable: string): Failure {
  if (error instanceof DatabaseError) return failureOfState(String(error.code), variable);
  const { code } = error as { code?: unknown };
  if (code === 'ECONNREFUSED')
    return {
      text: `the database of ${variable} refuses connections.`,
      remedy: 'Check that it is running.',
    };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { text: `the host of ${variable} is unknown.`, remedy: 'Correct the name.' };
  if (error.message === NO_TLS)
    return {
      text: `the database of ${variable} takes no TLS, which sslmode of the URL asks for.`,
      remedy: 'Set TLS up there, or change sslmode.',
    };
  if (isUnreached(error))
    return {
      text: `the database of ${variable} cannot be reached, or ended the connection.`,
      remedy: 'Check host and port, the network between, and whether PostgreSQL runs there.',
    };
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return { text: 'the disk is full.', remedy: 'Free some space, then try again.' };
  return { text: `${error.name}${typeof code === 'string' ? ` (${code})` : ''}: ${error.message}` };
}

/** By SQLSTATE. */
const OF_STATE: readonly [RegExp, (variable: string) => Failure][] = [
  [
    /^28/,
    (variable) => ({
      text: `the database refuses the user or password of ${variable}.`,
      remedy: 'Correct them.',
    }),
  ],
  [
    /^42P05$|^26000$/,
    () => ({
      text: 'a pooler in front of the database gives each transaction another connection.',
      remedy: 'Set it to session mode. See docs/operations.md, "PgBouncer".',
    }),
  ],
  [
    /^3D000$/,
    (variable) => ({
      text: `the database named in ${variable} does not exist.`,
      remedy: 'Create it first.',
    }),
  ],
  [
    /^57P0[123]$/,
    (variable) => ({
      text: `the database of ${variable} is starting or stopping.`,
      remedy: 'Try again in a moment.',
    }),
  ],
  [
    /^53300$/,
    (variable) => ({
      text: `the database of ${variable} has no connection left.`,
      remedy: 'Raise max_connections of PostgreSQL. See docs/operations.md, "Processes".',
    }),
  ],
  [
    /^53100$/,
    () => ({ text: 'the disk of the database is full.', remedy: 'Free some space there, then try again.' }),
  ],
  [
    /^25006$/,
    (variable) => ({
      text: `the database of ${variable} takes no writes: it is a standby, or set to read only.`,
      remedy: 'Connect to the primary, or turn default_transaction_read_only off.',
    }),
  ],
];

function failureOfState(state: string, variable: string): Failure {
  const [, describe] = OF_STATE.find(([states]) => states.test(state)) ?? [];
  return describe?.(variable) ?? { text: `the database refused a statement (SQLSTATE ${state})` };
}

/** A connection was not made, or broke. */
function isUnreached(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || code === 'ECONNRESET' || code === 'EPIPE' || isOfConnection(error);
}
