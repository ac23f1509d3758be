/** Long work in pieces. Contract: IN-30, TERM-26. */

/** Work without a pause at most. */
const SLICE_MS = 10;

/**
 * Lets the event loop turn now and then: an import is long work in a process that answers others meanwhile, and
 * awaiting what is there already does not let them in. Await the result where there is one.
 */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
