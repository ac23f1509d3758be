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
  const { code } = error as { code?: unknown };
  const [, text, remedy] = ofCodes(variable).find(([codes]) => codes.test(String(code))) ?? [];
  if (text !== undefined && remedy !== undefined) return { text, remedy };
  if (error instanceof DatabaseError)
    return { text: `the database refused a statement (SQLSTATE ${error.code})` };
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
  return { text: `${error.name}${typeof code === 'string' ? ` (${code})` : ''}: ${error.message}` };
}

/** Text and remedy by SQLSTATE, and by the code of a system error. */
function ofCodes(variable: string): [RegExp, text: string, remedy: string][] {
  const database = `the database of ${variable}`;
  return [
    [/^ECONNREFUSED$/, `${database} refuses connections.`, 'Check that it is running.'],
    [/^ENOTFOUND$/, `the host of ${variable} is unknown.`, 'Correct the name.'],
    [
      /^EAI_AGAIN$/,
      `the host of ${variable} could not be looked up.`,
      'Check the DNS of this machine, and the name.',
    ],
    [
      /SELF_SIGNED_CERT|^UNABLE_TO_(?:VERIFY|GET_ISSUER)/,
      `the certificate of ${database} is not signed by an authority that this machine trusts.`,
      'Name the file of the authority in the URL: sslmode=verify-full&sslrootcert=/path/to/ca.crt.',
    ],
    [
      /^ERR_TLS_CERT_ALTNAME_INVALID$/,
      `the certificate of ${database} is for another host name.`,
      'Write the host in the URL as the certificate names it.',
    ],
    [
      /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
      `the certificate of ${database} has expired, or is not valid yet.`,
      'Renew it there, or correct the clock of this machine.',
    ],
    [/^ENOSPC$|^EDQUOT$/, 'the disk is full.', 'Free some space, then try again.'],
    [/^28/, `the database refuses the user or password of ${variable}.`, 'Correct them.'],
    [
      /^42P05$|^26000$/,
      'a pooler in front of the database gives each transaction another connection.',
      'Set it to session mode. See docs/operations.md, "PgBouncer".',
    ],
    [/^3D000$/, `the database named in ${variable} does not exist.`, 'Create it first.'],
    [/^57P0[123]$/, `${database} is starting or stopping.`, 'Try again in a moment.'],
    [
      /^53300$/,
      `${database} has no connection left.`,
      'Raise max_connections of PostgreSQL. See docs/operations.md, "Processes".',
    ],
    [/^53100$/, 'the disk of the database is full.', 'Free some space there, then try again.'],
    [
      /^25006$/,
      `${database} takes no writes: it is a standby, or set to read only.`,
      'Connect to the primary, or turn default_transaction_read_only off.',
    ],
  ];
}

/** A connection was not made, or broke. */
function isUnreached(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || code === 'ECONNRESET' || code === 'EPIPE' || isOfConnection(error);
}
