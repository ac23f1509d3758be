/** A statement that PostgreSQL gave up for the sake of another one is done once that has ended. */

/** Serialization failure; deadlock; an id at a FHIR server that two publishes record at once. */
const REPEATABLE: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505']);
const MAX_TRIES = 4;

/** `statement` is a transaction of its own. */
export async function againAfterDeadlock<T>(statement: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await statement();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (tries === MAX_TRIES || !REPEATABLE.has(code)) throw error;
    }
  }
}
