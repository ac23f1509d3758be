/** Records what was stored: whatever came while one statement ran goes into the next, together. */
import type { StoredResource } from './resource.store.ts';

export interface RecordQueue {
  /** Resolves when it is durable. */
  add(stored: StoredResource): Promise<void>;
  /** Resolves when everything is; rejects when something could not be recorded. */
  drained(): Promise<void>;
}

export function createRecordQueue(write: (stored: StoredResource[]) => Promise<void>): RecordQueue {
  let waiting: StoredResource[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  function begin(): Promise<void> {
    const before = last.catch(() => undefined);
    const group = Promise.all([before, new Promise((resolve) => setImmediate(resolve))]).then(() => {
      const batch = waiting;
      waiting = [];
      next = undefined;
      return write(batch);
    });
    last = Promise.all([last, group]).then(() => undefined);
    last.catch(() => undefined);
    return group;
  }

  return {
    add(stored) {
      waiting.push(stored);
      next ??= begin();
      return next;
    },
    drained: () => last,
  };
}
