/** Tells what the database cannot do at the moment from a fault in a statement. Contract: HTTP-23, OPS-33. */
import { DatabaseError } from 'pg';

/**
 * `unreachable`: it cannot be connected to, or the connection was lost. `refusing`: it has no room or no memory, or
 * takes no writes. `slow`: a statement took longer than it may. `conflict`: others that wrote at the same time stood in its way.
 */
export type Outage = 'unreachable' | 'refusing' | 'slow' | 'conflict';

const OF_SQLSTATE: readonly [RegExp, Outage][] = [
  // Connections (08), a server that stops or starts (57P), too many connections.
  [/^08|^57P|^53300$/, 'unreachable'],
  // No room, no memory, a limit of its configuration (53), a failing disk, a standby.
  [/^53|^58030$|^25006$/, 'refusing'],
  // Cancelled, waited too long for a lock, or for the next statement of its transaction.
  [/^57014$|^55P03$|^25P0[34]$/, 'slow'],
  // A serialization failure, a deadlock.
  [/^40001$|^40P01$/, 'conflict'],
];

/** What pg says of a connection in words alone. */
const MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|error establishing an SSL connection/;

/** Whether pg says that it has no connection, or has it no more. */
export function isOfConnection({ message }: Error): boolean {
  return MESSAGES.test(message);
}

/** What pg says of a server that is set up without TLS. */
export const NO_TLS = 'The server does not support SSL connections';

/** No server of the database can be used now, each for its reason. */
export class NoServerError extends Error {
  override name = 'NoServerError';
  readonly reason: string;
  /** What to do. */
  readonly remedy: string;

  constructor(reasons: readonly string[]) {
    const reason = `No database server can be used: ${reasons.join(', ')}.`;
    const remedy = 'Start the primary, or promote a standby.';
    super(`${reason} ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** A statement had no answer in the time that pg gives it. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

const FROM_DATABASE = Symbol('from the database');

/**
 * The outage that an error tells of; undefined for every other error. A system error, such as ECONNRESET, counts only
 * where {@link watched} saw it come from a database connection: callers and other servers break connections, too.
 */
export function outageOf(error: unknown): Outage | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof NoServerError) return 'unreachable';
  const { code } = error as { code?: unknown };
  if (error instanceof DatabaseError) return OF_SQLSTATE.find(([states]) => states.test(String(code)))?.[1];
  const lost = /^E[A-Z]+$|^EAI_/.test(String(code)) || isOfConnection(error);
  return lost && FROM_DATABASE in error ? 'unreachable' : undefined;
}

/** `call` of a pool or a connection; what it fails with is marked as the database's and told to `onFailure`. */
export function watched<Call extends (...args: never[]) => unknown>(
  call: Call,
  onFailure?: (error: unknown) => void,
): Call {
  const note = (error: unknown): void => {
    if (error instanceof Error) Object.assign(error, { [FROM_DATABASE]: true });
    onFailure?.(error);
  };
  const watching = function (this: unknown, ...args: unknown[]): unknown {
    return followed(
      () => Reflect.apply(call, this, args),
      args,
      (error) => {
        if (error != null) note(error);
      },
    );
  };
  return watching as unknown as Call;
}

/** Make a call of pg, and tell what it fails with, or nothing: by its callback where it takes one, else by its promise. */
export function followed(make: () => unknown, args: unknown[], onEnd: (error: unknown) => void): unknown {
  const callback = args.at(-1);
  if (typeof callback === 'function')
    args[args.length - 1] = (error: unknown, ...answer: unknown[]) => {
      onEnd(error);
      return callback(error, ...answer);
    };
  const answer = make();
  if (answer instanceof Promise) answer.then(() => onEnd(undefined), onEnd);
  return answer;
}
