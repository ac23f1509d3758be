/**
 * Stops an import before it has come to its end. What is committed stays, and is counted: a transaction that has come to its
 * commit is waited for, every other one is rolled back.
 * Contract: IN-55.
 */
import type { Spool } from '../source/spool.ts';
import type { RunTransaction } from './import-transaction.ts';

/** Why an import that was stopped goes no further. */
export class ImportStopped extends Error {
  override name = 'ImportStopped';
}

/** Transactions that `stop` ends, with the statement that is under way. They throw its reason. */
export function stoppable(run: RunTransaction, stop: AbortSignal | undefined): RunTransaction {
  if (stop === undefined) return run;
  return async (work) => {
    stop.throwIfAborted();
    try {
      return await run(async (client) => {
        stop.throwIfAborted();
        const end = () => void client.end().catch(() => undefined);
        stop.addEventListener('abort', end, { once: true });
        try {
          return await work(client);
        } finally {
          stop.removeEventListener('abort', end);
        }
      });
    } catch (error) {
      throw stop.aborted ? stop.reason : error;
    }
  };
}

/** A source that cannot be opened or read any more once `stop` is aborted. It throws its reason. */
export function stoppableSource<Source extends { open(): Promise<Spool> }>(
  source: Source,
  stop: AbortSignal | undefined,
): Source {
  if (stop === undefined) return source;
  return {
    ...source,
    async open() {
      const spool = await unlessStopped(stop, source.open());
      return {
        ...spool,
        read(start, end) {
          stop.throwIfAborted();
          return spool.read(start, end);
        },
      };
    },
  };
}

/** What `work` comes to. Rejects at once when `stop` is aborted; nobody waits for the work then. */
export function unlessStopped<T>(stop: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (stop === undefined) return work;
  return new Promise((resolve, reject) => {
    const onStop = () => reject(stop.reason);
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}
