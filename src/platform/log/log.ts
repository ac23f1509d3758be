/**
 * Structured logs that hold only fields on a list: what is not on it cannot leak (SECURITY.md).
 * Contract: SEC-22, SEC-23.
 */
import pino from 'pino';
import { outageOf } from '../db/unavailable.ts';
import { currentTrace } from '../trace/trace.ts';

/** Every field that a log line may carry, besides `level`, `time`, `msg`, `traceId` and `spanId`. */
const ALLOWED_FIELDS = [
  'event',
  'correlationId',
  'method',
  'route',
  'status',
  'durationMs',
  'code',
  'errorName',
  'errorCode',
  'stack',
  'accountId',
  'sessionId',
  'organisationId',
  'facilityId',
  'connectionId',
  'deliveryId',
  'writerId',
  'hash',
  'targetId',
  'count',
  'attempt',
  'outcome',
  'reason',
  'role',
  'host',
  'port',
  'pid',
  'version',
  'database',
  'signal',
] as const;

export type LogFields = {
  [field in (typeof ALLOWED_FIELDS)[number]]?: string | number | boolean | undefined;
};

/** Fields of the list alone: with any other, however they were put together, the call does not compile. */
type Listed<Fields> = Fields & { [other in Exclude<keyof Fields, keyof LogFields>]: never };

type WriteLine = <Fields extends LogFields>(fields: Listed<Fields>, message: string) => void;

export interface Log {
  debug: WriteLine;
  info: WriteLine;
  warn: WriteLine;
  error: WriteLine;
}

/** Lines wait in so much memory while they cannot be written; further ones are left out. */
const WAITING_BYTES = 1_048_576;

/** A log that writes JSON lines to `destination` (default: stdout). */
export function createLog(level: string, destination?: NodeJS.WritableStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: traceFields };
  const logger = pino(options, (destination ?? standardOutput()) as pino.DestinationStream);
  const write = (method: 'debug' | 'info' | 'warn' | 'error') => (fields: LogFields, message: string) =>
    logger[method](allowed(fields), message);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** A pipe takes so many bytes whole or not at all (POSIX, PIPE_BUF): processes that share it would else mix their lines. */
const WHOLE_BYTES = 4_096;
/** After so long a log that could not be written is tried again, though no further line comes. */
const TRY_AGAIN_MS = 100;
/** So often when the process ends with lines that wait: the last ones may say why it ends. */
const LAST_TRIES = 50;

/** A full disk below the log stops no service, and neither does a reader of the log that stands still. */
function standardOutput(): pino.DestinationStream {
  const { fd } = process.stdout;
  const retryEAGAIN = () => false;
  const waiting = { maxLength: WAITING_BYTES, maxWrite: WHOLE_BYTES };
  const stdout = pino.destination({ dest: fd, sync: true, ...waiting, retryEAGAIN });
  const { write } = stdout;
  stdout.write = (lines) => {
    failWhenFull();
    return write.call(stdout, lines);
  };
  let waits = false;
  const tryAgain = () => {
    waits = false;
    stdout.write('');
  };
  const finish = () => {
    for (let tries = 0; waits && tries < LAST_TRIES; tries += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN_MS);
      tryAgain();
    }
  };
  stdout.on('error', () => {
    if (waits) return;
    waits = true;
    process.once('exit', finish);
    setTimeout(() => {
      process.off('exit', finish);
      tryAgain();
    }, TRY_AGAIN_MS).unref();
  });
  // A line that is left out tries nothing. Without this, the log would stay silent when there is room again.
  stdout.on('drop', () => stdout.write(''));
  return stdout;
}

/**
 * A write to a full pipe is to fail. Else it waits until somebody reads, and all else with it. Node.js sets this once, for all
 * who share the pipe, and takes it back from all of them whenever one of them starts a process or ends.
 */
function failWhenFull(): void {
  const { isTTY, _handle: pipe } = process.stdout as typeof process.stdout & {
    _handle?: { setBlocking?(isBlocking: boolean): void } | null;
  };
  if (!isTTY) pipe?.setBlocking?.(false);
}

/** What joins a line with its trace, where there is one. */
function traceFields(): { traceId?: string; spanId?: string } {
  const trace = currentTrace();
  return trace === undefined ? {} : { traceId: trace.traceId, spanId: trace.spanId };
}

/**
 * What may be said about an error: its name, its code and where it was thrown, never its message. That a database is out
 * of reach does not come from where it was noticed.
 */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    errorName: error.name,
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    ...(outageOf(error) === 'unreachable' ? {} : { stack: frames(error) }),
  };
}

/** The frames of a stack without the message, which may quote data. */
function frames(error: Error): string {
  const { stack = '', message } = error;
  const head = stack.indexOf(message);
  return stack
    .slice(head === -1 ? 0 : head + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .map((line) => line.trim())
    .join(' | ');
}

function allowed(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const field of ALLOWED_FIELDS) if (fields[field] !== undefined) kept[field] = fields[field];
  return kept;
}
