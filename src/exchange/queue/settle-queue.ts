/** Writes results of many sends together: whatever arrived while one statement ran goes into the next. */
import { setTimeout as sleep } from 'node:timers/promises';
import { delayAfterFailures } from '../../outbound/backoff.ts';
import type { DeliveryResult } from './settle.store.ts';

export interface SettleQueueOptions {
  /** Returns the patients whose heads were moved, and whether more is queued behind one. */
  write: (results: DeliveryResult[]) => Promise<{ moved: Set<string>; more: boolean }>;
  /** Called when something was queued behind a delivery that is done. */
  onMore: () => void;
  /** Called with the number of results whose lease was lost before they could be written. */
  onLost: (count: number) => void;
  onError: (error: unknown) => void;
}

export interface SettleQueue {
  readonly size: number;
  /** `deadlineMs` on the clock of `performance.now()`: until then the lease is ours. */
  add(result: DeliveryResult, deadlineMs: number): void;
  /** Resolves when everything is written, or after `limitMs`. Another worker sends again what was not written. */
  drain(limitMs: number): Promise<void>;
}

interface Waiting {
  result: DeliveryResult;
  deadlineMs: number;
}

const MAX_BATCH = 1_000;
/** A statement costs as much as about forty results. So with fewer results than this, it waits a moment for more. */
const GATHERED = 200;
const GATHER_MS = 8;
/** A head that a change has locked is tried again after this. */
const LOCKED_WAIT_MS = 30;
const ERROR_WAIT = { firstMs: 100, maxMs: 2_000 };

export function createSettleQueue(options: SettleQueueOptions): SettleQueue {
  let queue: Waiting[] = [];
  let running: Promise<void> | undefined;
  let abandoned = false;

  async function run(): Promise<void> {
    let errors = 0;
    while (queue.length > 0 && !abandoned) {
      if (queue.length < GATHERED) await sleep(GATHER_MS);
      const batch = queue.splice(0, MAX_BATCH);
      try {
        const { moved, more } = await options.write(batch.map(({ result }) => result));
        errors = 0;
        if (more) options.onMore();
        await keepLocked(batch, moved);
      } catch (error) {
        if (errors === 0) options.onError(error);
        errors += 1;
        queue = [...batch, ...queue];
        await sleep(delayAfterFailures(ERROR_WAIT, errors));
      }
    }
    running = undefined;
  }

  /** What was not moved is locked by a change, or its lease is lost. Only the first is worth another try. */
  async function keepLocked(batch: Waiting[], moved: Set<string>): Promise<void> {
    const left = batch.filter(({ result }) => !moved.has(result.patientId));
    if (left.length === 0) return;
    const locked = left.filter(({ deadlineMs }) => performance.now() < deadlineMs);
    if (locked.length < left.length) options.onLost(left.length - locked.length);
    queue.push(...locked.map((waiting) => ({ ...waiting, result: { ...waiting.result, attempt: null } })));
    if (queue.length === locked.length) await sleep(LOCKED_WAIT_MS);
  }

  return {
    get size() {
      return queue.length;
    },
    add(result, deadlineMs) {
      queue.push({ result, deadlineMs });
      running ??= run();
    },
    async drain(limitMs) {
      const late = sleep(limitMs, undefined, { ref: false }).then(() => {
        abandoned = true;
      });
      while (running !== undefined && !abandoned) await Promise.race([running, late]);
    },
  };
}
