/**
 * Reads the body of an upload for as long as it makes progress, however long that takes.
 * Contract: IN-28, IN-29.
 */
import type { Readable } from 'node:stream';
import { importError } from '../../errors.ts';

export interface Pace {
  /** Longest time in which nothing arrives. */
  idleMs: number;
  /** In each window of waiting, at least `minWindowBytes` arrive. The last window may end early. */
  windowMs: number;
  minWindowBytes: number;
}

/** Throws 408 with the reason when the body is too slow. Time that the reader takes for itself does not count. */
export async function* paced(
  body: Readable,
  pace: Pace,
  nowMs: () => number = () => performance.now(),
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let waitedMs = 0;
  let windowBytes = 0;
  let waiting = false;
  try {
    for (;;) {
      const since = nowMs();
      waiting = true;
      const next = await withinIdle(chunks.next(), pace.idleMs);
      waiting = false;
      if (next.done === true) return;
      waitedMs += nowMs() - since;
      windowBytes += next.value.length;
      if (waitedMs >= pace.windowMs) {
        if (windowBytes < pace.minWindowBytes) throw stalled(waitedMs, pace.minWindowBytes);
        [waitedMs, windowBytes] = [0, 0];
      }
      yield next.value;
    }
  } finally {
    // `return` waits for a read that is under way, which may never end.
    if (!waiting) await chunks.return?.();
  }
}

async function withinIdle<T>(read: Promise<T>, idleMs: number): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(stalled(idleMs)), idleMs);
  try {
    return await Promise.race([read, stopped]);
  } finally {
    clearTimeout(timer);
  }
}

const stalled = (ms: number, minBytes?: number) =>
  importError('upload_stalled', {
    seconds: Math.max(1, Math.round(ms / 1_000)),
    ...(minBytes === undefined ? {} : { minBytes }),
  });
