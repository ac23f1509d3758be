/**
 * For a test that a distributed database cannot run: with TEST_CITUS_URL it is left out, and the reason shows in the
 * report. `test('…', needsPlainPostgres('it compares plans'), async () => …)`
 */
export function needsPlainPostgres(reason: string): { skip?: string } {
  return process.env.TEST_CITUS_URL === undefined ? {} : { skip: reason };
}
