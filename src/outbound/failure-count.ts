/** When a server is considered down: what the breakers of exchanges and of FHIR servers count. Contract: EXC-22. */

/** What a request says about the server as a whole. */
export type ServerHealth =
  /** It answered: it is up. */
  | 'up'
  /** It could not be reached: no record is to blame. */
  | 'unreachable'
  /** It failed with one record: the fault may be the server's or the record's. */
  | 'failing';

/**
 * Counts failures since the server last answered. Too many are `failures` requests that did not reach it, or failures
 * with as many different records: one record that always fails is never enough.
 */
export function createFailureCount({ failures }: { failures: number }) {
  let unreachable = 0;
  const records = new Set<string>();
  const reset = () => {
    unreachable = 0;
    records.clear();
  };
  return {
    reset,
    /** Note a request, and the record that it was about. True while there are too many failures. */
    note(health: ServerHealth, record: string): boolean {
      if (health === 'up') {
        reset();
        return false;
      }
      if (health === 'unreachable') unreachable += 1;
      records.add(record);
      return unreachable >= failures || records.size >= failures;
    },
  };
}
