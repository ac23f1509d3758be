/** A call that meets a change which somebody else has begun. */
import { type Client, type Pool, transaction } from '../src/platform/db/database.ts';
import { waitForLock } from './wait-until.ts';

interface Meeting<Value> {
  /** The first part of a transaction, which takes the lock. */
  change(client: Client): Promise<unknown>;
  /** Waits for that lock. */
  call(): Promise<Value>;
  /** Until it does; without it, until any connection waits for the transaction. */
  waits?(): Promise<unknown>;
  /** What happens then, before the transaction is committed. */
  meanwhile?(client: Client): Promise<unknown>;
}

/** The answer of a call that had to wait until a change was committed. */
export async function callDuring<Value>(
  pool: Pool,
  { change, call, waits, meanwhile }: Meeting<Value>,
): Promise<Value> {
  // In an object: a promise that is returned is waited for before the transaction is committed.
  const { answer } = await transaction(pool, async (client) => {
    await change(client);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const called = call();
    // It may fail before the commit is known here, where nobody waits for it yet.
    called.catch(() => undefined);
    await (waits?.() ?? waitForLock(pool, { blockedBy: rows[0]?.pid ?? 0 }));
    await meanwhile?.(client);
    return { answer: called };
  });
  return await answer;
}
