/** One transaction for one unit: normal ones, and those of a dry run, which leave nothing behind. */
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';

/** Runs `work` in a transaction of its own; rolls it back when `work` throws. */
export type RunTransaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/** Another import has just added what this one held for new. The same work meets it when repeated. */
export class MetAnotherImport extends Error {
  override name = 'MetAnotherImport';
  readonly code = '40001';

  constructor() {
    super('Another import added the same record');
  }
}

/** A serialization failure or a deadlock (PostgreSQL, appendix A): the same work may succeed when repeated. */
const REPEATABLE = new Set(['40001', '40P01']);
const ATTEMPTS = 6;

export function inTransactions(pool: Pool): RunTransaction {
  return (work) => transaction(pool, work);
}

/**
 * Run `import` with transactions that see each other's work and are all undone at its end. One connection
 * carries them, one after the other.
 */
export async function inDryRun<T>(pool: Pool, work: (run: RunTransaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    return await work(async (inner) => {
      await client.query('savepoint unit');
      try {
        const result = await inner(client);
        await client.query('release savepoint unit');
        return result;
      } catch (error) {
        await client.query('rollback to savepoint unit');
        throw error;
      }
    });
  } finally {
    // A connection that cannot roll back is closed, which rolls back too.
    const broken = await client.query('rollback').then(
      () => undefined,
      (error: Error) => error,
    );
    client.release(broken);
  }
}

/** Do `work`, again when it met a deadlock or a serialization failure. */
export async function repeatOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !REPEATABLE.has(sqlState(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * 2 ** attempt));
    }
  }
}

/**
 * Why PostgreSQL refused the data (classes 22, 23 and 54: data, integrity and limits), for people; undefined for
 * every other failure. The server's own message is left out: it repeats values.
 */
export function dataFault(error: unknown): string | undefined {
  const state = sqlState(error);
  if (!/^(?:22|23|54)/.test(state)) return undefined;
  const { constraint } = error as { constraint?: string };
  return `could not be stored (SQLSTATE ${state}${constraint === undefined ? '' : `, ${constraint}`})`;
}

/** True when the database is out of reach (classes 08 and 57), so that nothing else can be done either. */
export function isDatabaseGone(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    /^(?:08|57P|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT)/.test(String(code)) ||
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(String(message))
  );
}

/** What is safe to say about a failure that nobody foresaw: its code, never its message. */
export function faultText(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : String(name ?? 'unknown');
}

function sqlState(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
