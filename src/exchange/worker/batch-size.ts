/** How many lanes a worker leases at once: enough that no sender waits for the database, and no more. */
export interface BatchSize {
  of(maxInFlight: number): number;
  /** Note a lease: how many it brought, when it was begun, and whether senders had to wait for it. */
  note(lease: { found: number; startedMs: number; starved: boolean }): void;
  /** The last lease was a full one. */
  readonly likelyMore: boolean;
}

const MAX = 512;
/** What lasts longer is leased in smaller parts. */
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
    note({ found, startedMs, starved }) {
      const wasFull = likelyMore;
      likelyMore = found >= size;
      if (wasFull && starved) size = Math.min(MAX, size * 2);
      else if (startedMs - lastMs > SLOW_MS) size = Math.floor(size / 2);
      lastMs = startedMs;
    },
    get likelyMore() {
      return likelyMore;
    },
  };
}
