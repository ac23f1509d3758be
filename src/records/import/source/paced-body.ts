/**
 * Reads the body of an upload for as long as it makes progress, however long that takes.
 * Contract: IN-28, IN-29.
 */
import type { Readable } from 'node:stream';
import { HttpError } from '../../../platform/http/errors.ts';

export interface Pace {
  /** Nothing at all may arrive for so long. */
  idleMs: number;
  /** In each window of waiting at least so much arrives; the last one may end before. */
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
        if (windowBytes < pace.minWindowBytes) throw tooSlow(pace, waitedMs);
        [waitedMs, windowBytes] = [0, 0];
      }
      yield next.value;
    }
  } finally {
    // While a read is under way it would wait for that.
    if (!waiting) await chunks.return?.();
  }
}

async function withinIdle<T>(read: Promise<T>, idleMs: number): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(idle(idleMs)), idleMs);
  try {
    return await Promise.race([read, stopped]);
  } finally {
    clearTimeout(timer);
  }
}

const idle = (idleMs: number) => givenUp(`no data arrived for ${secondsText(idleMs)}`);

const tooSlow = ({ minWindowBytes }: Pace, waitedMs: number) =>
  givenUp(`fewer than ${minWindowBytes} bytes arrived in ${secondsText(waitedMs)}`);

function givenUp(reason: string): HttpError {
  const message = `The import was stopped: ${reason}. Nothing was kept. Send it again.`;
  return new HttpError(408, 'upload_stalled', message, { headers: { connection: 'close' } });
}

function secondsText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}
