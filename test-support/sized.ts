/**
 * How much a test repeats or loads: `usual`, or `full` with TEST_SIZE=full. Both prove the same; `full` also finds what
 * comes about seldom, or shows only in much data. `.ci/run` runs both.
 */
export function sized(usual: number, full: number): number {
  return process.env.TEST_SIZE === 'full' ? full : usual;
}
