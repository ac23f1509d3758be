/** How many lanes a worker leases at once: about as many as it sends in half a second. */
export interface BatchSize {
  of(maxInFlight: number): number;
  /** Note a lease that was begun at `startedMs` and brought `found` lanes. */
  note(found: number, startedMs: number): void;
  /** The last lease was a full one. */
  readonly likelyMore: boolean;
}

const MAX = 512;
const FAST_MS = 150;
const SLOW_MS = 750;

export function createBatchSize(): BatchSize {
  let size = 0;
  let lastMs = 0;
  let likelyMore = false;
  return {
    of(maxInFlight) {
      size = Math.max(size, maxInFlight * 2);
      return size;
    },
    note(found, startedMs) {
      likelyMore = found >= size;
      if (likelyMore && startedMs - lastMs < FAST_MS) size = Math.min(MAX, size * 2);
      else if (startedMs - lastMs > SLOW_MS) size = Math.floor(size / 2);
      lastMs = startedMs;
    },
    get likelyMore() {
      return likelyMore;
    },
  };
}
