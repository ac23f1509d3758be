/**
 * SQL of the right to test a connection: one at a time, and one in five seconds, whichever process sends it.
 * Contract: ADM-71.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql, readDatabaseTime } from '../../platform/db/database-time.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';

const TEST_EVERY_SECONDS = 5;

/**
 * The time at which a test begins now; undefined while another one is under way. A process that dies in the middle holds the
 * slot for as long as the test may take.
 */
export async function takeTestSlot(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  { databaseTime, timeoutMs }: { databaseTime: DatabaseTime; timeoutMs: number },
): Promise<Date | undefined> {
  const begunAt = await readDatabaseTime(db, databaseTime);
  const { rowCount } = await db.query({
    text: `
      update exchange_connection
      set next_test_at = $4
      where organisation_id = $1
        and id = $2
        and (next_test_at is null or next_test_at <= $3)`,
    values: [organisationId, connectionId, begunAt, heldUntil(begunAt, timeoutMs)],
  });
  return rowCount === 1 ? begunAt : undefined;
}

/** The test is over. Nothing changes when another one has begun since. */
export async function leaveTestSlot(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  { begunAt, timeoutMs }: { begunAt: Date; timeoutMs: number },
): Promise<void> {
  await db.query({
    text: `
      update exchange_connection
      set next_test_at = $4
      where organisation_id = $1
        and id = $2
        and next_test_at = $3`,
    values: [organisationId, connectionId, heldUntil(begunAt, timeoutMs), heldUntil(begunAt, 0)],
  });
}

/** In how many seconds to ask again: of a test that is under way nobody knows its end. */
export async function secondsToNextTest(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  databaseTime: DatabaseTime,
): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>({
    text: `
      select ceil(extract(epoch from next_test_at - ${databaseTimeSql(3)}))::integer as seconds
      from exchange_connection
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, connectionId, databaseTime],
  });
  return Math.min(Math.max(rows[0]?.seconds ?? 1, 1), TEST_EVERY_SECONDS);
}

function heldUntil(begunAt: Date, timeoutMs: number): Date {
  return new Date(begunAt.getTime() + TEST_EVERY_SECONDS * 1_000 + timeoutMs);
}
