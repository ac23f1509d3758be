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
  readonly #held = new Map<string, Map<string, NotShownReason>>();
  readonly #numbers = new Set<number>();
  #size = 0;

  add({ type, id, reason }: NotShown): void {
    const held = this.#held.get(type) ?? new Map<string, NotShownReason>();
    if (held.has(id)) return;
    if (this.#size < HELD) {
      this.#held.set(type, held.set(id, reason));
      this.#size += 1;
    } else {
      const number = numberOf(`${type}/${id}`);
      if (this.#numbers.has(number)) return;
      if (this.#numbers.size < NUMBERED) this.#numbers.add(number);
    }
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  /** Leave out what a report, an order or a vital set brought along. */
  async settle(db: Queryable, scope: FacilityScope): Promise<void> {
    for (const [type, held] of this.#held)
      for (const ids of batchesOf([...held.keys()]))
        for (const id of await shownRecords(db, scope, { type, ids })) this.#takeBack(held.get(id));
  }

  /** By reason, in the order of their names. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #takeBack(reason: NotShownReason | undefined): void {
    if (reason === undefined) return;
    const left = (this.#counts.get(reason) ?? 0) - 1;
    if (left > 0) this.#counts.set(reason, left);
    else this.#counts.delete(reason);
  }
}

/** Of 48 bits: of a million records, two have the same number in one import of 500. */
function numberOf(name: string): number {
  return hash('sha1', name, 'buffer').readUIntBE(0, 6);
}
