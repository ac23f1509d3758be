/**
 * How much a test repeats or loads: `usual`, or `full` with TEST_SIZE=full. Both prove the same; `full` also finds what
 * comes about seldom, or shows only in much data.
 */
export function sized(usual: number, full: number): number {
  return isFullSize() ? full : usual;
}

export function isFullSize(): boolean {
  return process.env.TEST_SIZE === 'full';
}
