/** The clock of the database, which every process shares. Clocks of machines differ. Contract: SIGN-IN-35. */
import { oneRow, type Queryable } from './database.ts';

/**
 * The time that a statement takes for now: null is the clock of the database; tests name a time instead. Statements
 * read it in a select ({@link databaseTimeSql}): a distributed database takes no `clock_timestamp()` in an update.
 */
export type DatabaseTime = Date | null;

/** The time as SQL, given the number of the parameter that holds a {@link DatabaseTime}. */
export function databaseTimeSql(parameter: number): string {
  return `coalesce($${parameter}::timestamptz, clock_timestamp())`;
}

/** One round trip. */
export async function readDatabaseTime(db: Queryable, time: DatabaseTime = null): Promise<Date> {
  const text = `select ${databaseTimeSql(1)} as now`;
  return (await oneRow<{ now: Date }>(db, { name: 'database-time', text, values: [time] })).now;
}
