/** Counts what an import took and no fetch shows, by reason. Contract: IN-40. */
import { hash } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { batchesOf } from './group/batches.ts';
import type { NotShownReason } from './map/shown.ts';
import { shownRecords } from './write/shown-records.store.ts';

/** A record that no fetch shows, unless a report or an order brings it along. */
export interface NotShown {
  type: string;
  id: string;
  reason: NotShownReason;
}

/** Records that are looked at again at the end. Of more, only a number is held, so that none is counted twice. */
const HELD = 100_000;
/** Numbers that are held, some 40 bytes each; more records are counted as they come. */
const NUMBERED = 1_000_000;

export class NotShownTally {
  readonly #counts = new Map<NotShownReason, number>();
  /** By type and id. */
  readonly #held = new Map<string, NotShown>();
  readonly #numbers = new Set<number>();

  add(record: NotShown): void {
    const name = `${record.type}/${record.id}`;
    if (this.#held.has(name)) return;
    if (this.#held.size < HELD) this.#held.set(name, record);
    else {
      const number = numberOf(name);
      if (this.#numbers.has(number)) return;
      if (this.#numbers.size < NUMBERED) this.#numbers.add(number);
    }
    this.#count(record, 1);
  }

  /** Leave out what a report, an order or a vital set brought along. */
  async settle(db: Queryable, scope: FacilityScope): Promise<void> {
    for (const [type, held] of Map.groupBy(this.#held.values(), (record) => record.type))
      for (const some of batchesOf(held)) {
        const shown = new Set(await shownRecords(db, scope, { type, ids: some.map(({ id }) => id) }));
        for (const record of some) if (shown.has(record.id)) this.#count(record, -1);
      }
  }

  /** By reason, in the order of their names. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #count({ reason }: NotShown, by: number): void {
    const times = (this.#counts.get(reason) ?? 0) + by;
    if (times > 0) this.#counts.set(reason, times);
    else this.#counts.delete(reason);
  }
}

/** Of 48 bits: of a million records, two have the same number in one import of 500. */
function numberOf(name: string): number {
  return hash('sha1', name, 'buffer').readUIntBE(0, 6);
}
