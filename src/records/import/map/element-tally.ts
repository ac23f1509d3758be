/** Element paths that were met, how often, and where first. Contract: IN-7. */

export interface ElementCount {
  /** `Patient.extension`. */
  element: string;
  count: number;
  /** The file where it was met first, and the number of the Bundle entry or NDJSON line that has it first in there, from 1. */
  file: string;
  entry: number;
}

interface Met {
  count: number;
  file: string;
  entry: number;
}

/** Paths that are counted apart: element names are the sender's, and may be without end. */
const COUNTED = 1_000;
const OTHERS = '(others)';

export class ElementTally {
  readonly #met = new Map<string, Met>();

  add(element: string, entry: number): void {
    this.#count(element, { count: 1, file: '', entry });
  }

  /** Add what was met in `file`. */
  addAll(tally: ElementTally, file = ''): void {
    for (const [element, met] of tally.#met) this.#count(element, { ...met, file });
  }

  /** Most frequent first. */
  counts(): ElementCount[] {
    return [...this.#met]
      .map(([element, met]) => ({ element, ...met }))
      .sort((a, b) => b.count - a.count || (a.element < b.element ? -1 : 1));
  }

  #count(element: string, met: Met): void {
    const name = this.#met.size < COUNTED || this.#met.has(element) ? element : OTHERS;
    const before = this.#met.get(name);
    if (before === undefined) this.#met.set(name, { ...met });
    else {
      before.count += met.count;
      // Entries are not read in their order: what has to be looked up first comes later.
      if (met.file === before.file) before.entry = Math.min(before.entry, met.entry);
    }
  }
}
