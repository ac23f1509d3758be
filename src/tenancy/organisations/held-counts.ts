/**
 * Counts that are gathered in memory and added to the database every few seconds, so that no call waits for them
 * (docs/adr/0032). A crash loses those few seconds. One organisation whose counts cannot be written rests, and keeps them
 * for later.
 */
import { isWholeDatabase, type OrganisationWork } from './organisation-work.ts';

export interface HeldCount {
  organisationId: string;
  count: number;
}

export interface HeldCounts<Item extends HeldCount> {
  /** Add it to what is held under the same key; returns at once. */
  hold(item: Item): void;
  /** Write what is held. Rejects never: what could not be written is tried again with the next flush. */
  flush(): Promise<void>;
  /** Stop the timer and write what is held. */
  close(): Promise<void>;
}

export interface HeldCountsOptions<Item extends HeldCount> {
  keyOf(item: Item): string;
  /** Add to the counts of one organisation, each key at most once. */
  write(organisationId: string, items: Item[]): Promise<void>;
  flushAfterMs: number;
  /** Keys held in memory; what comes beyond them until the next flush is not counted. */
  maxHeld: number;
  /** Notes the organisations whose counts cannot be written, in place of `onError`. */
  work?: OrganisationWork | undefined;
  onError: (error: unknown) => void;
}

export function createHeldCounts<Item extends HeldCount>(options: HeldCountsOptions<Item>): HeldCounts<Item> {
  const { keyOf, maxHeld, work, onError } = options;
  let held = new Map<string, Item>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  function hold(item: Item): void {
    const key = keyOf(item);
    const known = held.get(key);
    if (known !== undefined) known.count += item.count;
    else if (held.size < maxHeld) held.set(key, item);
    schedule();
  }

  async function write(): Promise<void> {
    const items = Map.groupBy(held.values(), ({ organisationId }) => organisationId);
    held = new Map();
    for (const [organisationId, of] of items) await writeOf(organisationId, of);
  }

  async function writeOf(organisationId: string, items: Item[]): Promise<void> {
    try {
      if (closed || work === undefined || work.restMs(organisationId) === 0) {
        await options.write(organisationId, items);
        work?.succeeded(organisationId);
        return;
      }
    } catch (error) {
      if (work === undefined || isWholeDatabase(error)) onError(error);
      else work.failed(organisationId, error);
    }
    for (const item of items) hold(item);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => (held.size === 0 ? undefined : write()));
    return writing;
  }

  function schedule(): void {
    if (timer !== undefined || closed) return;
    timer = setTimeout(() => void flush(), options.flushAfterMs);
    timer.unref();
  }

  return {
    hold,
    flush,
    async close() {
      closed = true;
      await flush();
    },
  };
}
