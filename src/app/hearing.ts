/**
 * How far this node has heard of changes. Whatever finished before a statement was sent on the live connection
 * has been heard of once that statement is answered (docs/adr/0004).
 * Contract: ACC-16, ACC-17.
 */
import { createBatcher } from '../platform/db/batch.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { LiveConnection } from '../platform/db/live-connection.ts';

export interface Hearing {
  /** The live connection, while it is up; what is sent on it counts. */
  connection(): Queryable | undefined;
  /** A point in time, for `since`. */
  mark(): number;
  /**
   * Resolves once every change that was finished at the mark has been heard of. Where that cannot be known,
   * `onDoubt` is called first. Never rejects.
   */
  since(mark: number): Promise<void>;
}

export function createHearing(live: Pick<LiveConnection, 'client'>, onDoubt: () => void): Hearing {
  let sent = 0;
  let answered = 0;

  const counted: Queryable = {
    async query(statement) {
      const client = live.client();
      if (client === undefined) throw new Error('the live connection is down');
      sent += 1;
      const number = sent;
      try {
        const result = await client.query(statement);
        answered = Math.max(answered, number);
        return result as never;
      } catch (error) {
        // The connection may be ending; that is noticed a moment later only.
        onDoubt();
        throw error;
      }
    },
  };
  const connection = () => (live.client() === undefined ? undefined : counted);

  const roundTrip = createBatcher<null, null>({
    maxKeys: 10_000,
    maxInFlight: 1,
    load: async (keys) => {
      await connection()?.query({ name: 'barrier', text: 'select 1' });
      return keys;
    },
  });
  return {
    connection,
    mark: () => sent,
    async since(mark) {
      // While nothing is heard, callers are read from the database anyway.
      if (answered <= mark) await roundTrip(null).catch(() => null);
    },
  };
}
