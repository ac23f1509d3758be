/** An outage of the database takes many connections at once: the log has one line for all of them. Contract: OPS-40. */
import { errorFields, type Log } from '../../platform/log/log.ts';

export interface LostConnections {
  note(error: Error): void;
  /** The service stops: it does not connect again. */
  stopping(): void;
  /** Says what was noted last. */
  close(): void;
}

/** What is lost within this time is told together. */
const TOGETHER_MS = 1_000;

export function tellLostConnections(log: Pick<Log, 'warn'>): LostConnections {
  let first: Error | undefined;
  let count = 0;
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count === 0) return;
    // Where a connection was waiting says nothing about why it was lost.
    const { errorName, errorCode } = errorFields(first);
    log.warn(
      { event: 'database.connections-lost', count, errorName, errorCode },
      isStopping
        ? 'connections to the database were lost while the service stopped'
        : 'connections to the database were lost; the service connects again by itself',
    );
    [first, count] = [undefined, 0];
  }

  return {
    note(error) {
      first ??= error;
      count += 1;
      timer ??= setTimeout(tell, TOGETHER_MS).unref();
    },
    stopping() {
      isStopping = true;
    },
    close: tell,
  };
}
