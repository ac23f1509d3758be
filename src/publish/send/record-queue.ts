/**
 * Records what was stored, in batches. A short publish needs no statement for it: the one that ends the publish records
 * everything. What a process did not record before it died is settled by the next publish (docs/adr/0050).
 */
import type { StoredResource } from './resource.store.ts';

export interface RecordQueue {
  add(stored: StoredResource): void;
  /** Resolves when everything is on record; rejects when something could not be recorded. */
  drained(): Promise<void>;
  /** Wait for what is being written, and take out the rest: the caller records it. */
  takeWaiting(): Promise<StoredResource[]>;
}

const GATHER_MS = 250;

export function createRecordQueue(write: (stored: StoredResource[]) => Promise<void>): RecordQueue {
  let waiting: StoredResource[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function take(): StoredResource[] {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    return batch;
  }

  function flush(): Promise<void> {
    const batch = take();
    const before = writing.catch(() => undefined);
    if (batch.length > 0)
      writing = before.then(async () => {
        try {
          await write(batch);
        } catch (error) {
          waiting = [...batch, ...waiting];
          throw error;
        }
      });
    return writing;
  }

  return {
    add(stored) {
      waiting.push(stored);
      // What could not be written stays among the waiting, and is written with the next.
      timer ??= setTimeout(() => void flush().catch(() => undefined), GATHER_MS);
    },
    drained: flush,
    async takeWaiting() {
      clearTimeout(timer);
      await writing.catch(() => undefined);
      return take();
    },
  };
}
