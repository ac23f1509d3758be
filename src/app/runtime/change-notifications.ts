/**
 * Tracks which change notifications this process has received. A change that was committed before a statement was sent
 * on the live connection is known once that statement is answered (docs/adr/0004).
 * Contract: ACC-16, ACC-17.
 */
import { createBatcher } from '../../platform/db/batch.ts';
import type { LiveConnection } from '../../platform/db/connection/live-connection.ts';
import type { Queryable } from '../../platform/db/database.ts';

export interface ChangeNotifications {
  /** The live connection, while it is up; statements on it count. */
  connection(): Queryable | undefined;
  /** A point in time, for `receivedUntil`. */
  mark(): number;
  /**
   * Resolves once every change that was committed before the mark is known. Where that cannot be told, `onDoubt` is
   * called first. Never rejects.
   */
  receivedUntil(mark: number): Promise<void>;
}

export function createChangeNotifications(
  live: Pick<LiveConnection, 'client'>,
  onDoubt: () => void,
): ChangeNotifications {
  let sent = 0;
  let answered = 0;

  const counted: Queryable = {
    async query(statement) {
      const client = live.client();
      if (client === undefined)
        throw new Error('the connection for change notifications is down; trying again');
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
    async receivedUntil(mark) {
      // While that connection is down, callers are read from the database for each call.
      if (answered <= mark) await roundTrip(null).catch(() => null);
    },
  };
}
