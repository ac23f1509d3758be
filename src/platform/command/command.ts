/** What every command of `interchange` is given. */
import type { Readable } from 'node:stream';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { Pool } from '../db/database.ts';
import { type DomainError, worded } from '../domain-error.ts';
import type { CursorCodec } from '../http/cursor.ts';

/** A failure that the operator is told about: exit 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** A command called wrongly: exit 2. The message says how to call it. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** An error of a use case in the words of the command line. */
export function commandErrorOf(error: DomainError): CommandError | UsageError {
  const { text, command, exitCode } = error.wording;
  const { field, ...values } = error.values;
  const message = worded(
    command ?? text,
    field === undefined ? values : { ...values, field: optionOf(field) },
  );
  return new (exitCode === 2 ? UsageError : CommandError)(message, { cause: error });
}

/** The option that takes a member of the input: `timeZone` is `--time-zone`, `facilityId` is `--facility`. */
function optionOf(field: string): string {
  const words = field.replace(/(?<=.)Ids?$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${words}`;
}

/** The database and keys that a command works with, opened for its time. */
export interface CommandSession {
  /** Connections that act as the service's role. */
  db: Pool;
  /** URL of the owner of the schema, for migrations and verification. */
  adminUrl: string;
  keys: KeyRing;
  /** Of lists by page, the same as over HTTP. */
  cursors: CursorCodec;
  /** Absolute base address of the API, ending in /api/v1. */
  publicBaseUrl: string;
}

/** What the command line is called with. A process is one. */
export interface CommandCaller {
  env: NodeJS.ProcessEnv;
  stdin: Readable;
  stdout: NodeJS.WritableStream;
  /** Where progress and notes go. */
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

export interface CommandEnvironment extends CommandCaller {
  /** Run `work` against the configured database (the embedded one is joined, or started for the time). */
  withSession<T>(work: (session: CommandSession) => Promise<T>): Promise<T>;
  /** Print the result: the document with `--json`, the text without. */
  print(document: unknown, text: string): void;
  /** True with `--json`. */
  readonly json: boolean;
  /** Ends with 1, or with another code, and says this on stderr, although the result is printed: it is a bad one. */
  fail(message: string, exitCode?: number): void;
  now: () => Date;
}
