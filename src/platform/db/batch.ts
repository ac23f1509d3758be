/**
 * Lets reads that arrive together share one round trip.
 *
 * A key waits until the current turn of the event loop ends, or, while `maxInFlight` loads are under way,
 * until one of them returns. One slow load therefore makes the next one larger instead of longer to wait for.
 * Contract: LOG-11.
 */
import { currentTrace, inTrace, type TraceContext } from '../trace/trace.ts';

export interface BatchOptions<Key, Value> {
  /**
   * Resolves to the values for the keys, in their order. Or to nothing: then each key that was given no `answer` has undefined.
   */
  load: (keys: Key[], answer: EarlyAnswer<Value>) => Promise<BatchValues<Value>>;
  /** Keys in one load at most. */
  maxKeys: number;
  /** Loads under way at most. */
  maxInFlight: number;
}

export type BatchValues<Value> = Value[] | (undefined extends Value ? undefined : never);

/** Answers the key at this index before the load ends. */
export type EarlyAnswer<Value> = (index: number, value: Value) => void;

interface Waiting<Key, Value> {
  key: Key;
  trace: TraceContext | undefined;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

export function createBatcher<Key, Value>(options: BatchOptions<Key, Value>): (key: Key) => Promise<Value> {
  let queue: Waiting<Key, Value>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || queue.length === 0 || inFlight >= options.maxInFlight) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const batch = queue.slice(0, options.maxKeys);
    queue = queue.slice(options.maxKeys);
    inFlight += 1;
    void settle(batch).finally(() => {
      inFlight -= 1;
      schedule();
    });
    schedule();
  }

  async function settle(batch: Waiting<Key, Value>[]): Promise<void> {
    try {
      // In the trace of the first of them. Left to itself it would belong to whoever came before.
      const keys = batch.map(({ key }) => key);
      const answer: EarlyAnswer<Value> = (index, value) => batch[index]?.resolve(value);
      const values = await inTrace(batch[0]?.trace, () => options.load(keys, answer));
      if (values !== undefined && values.length !== batch.length)
        throw new Error(`A batch of ${batch.length} keys was answered with ${values.length} values.`);
      for (const [index, waiting] of batch.entries()) waiting.resolve(values?.[index] as Value);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }

  return (key) =>
    new Promise<Value>((resolve, reject) => {
      queue.push({ key, trace: currentTrace(), resolve, reject });
      schedule();
    });
}
