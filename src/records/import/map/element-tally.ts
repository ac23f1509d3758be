/** Element paths that were met, how often, and where first. Contract: IN-7. */

/** Where something stands in the files of an import. */
export interface Place {
  /** As it was named; `-` is standard input. */
  file: string;
  /** Number of the Bundle entry or NDJSON line, from 1; null is the whole file. */
  entry: number | null;
}

/** By the names of files, then by entries: files are read at once, so which comes first in time says nothing. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.entry ?? 0) - (b.entry ?? 0);
}

interface Met extends Place {
  count: number;
  entry: number;
}

/** Where it was met first: by name of the file, then by entry. */
export interface ElementCount extends Met {
  /** `Patient.extension`. */
  element: string;
}

/** Names that are counted apart: they are the sender's, and may be without end. */
const COUNTED = 1_000;

/** What `name` is counted under: itself, or `(others)` once there are very many. */
export function countedName(counts: ReadonlyMap<string, unknown>, name: string): string {
  return counts.size < COUNTED || counts.has(name) ? name : '(others)';
}

export class ElementTally {
  readonly #met = new Map<string, Met>();

  add(element: string, entry: number): void {
    this.#count(element, { count: 1, file: '', entry });
  }

  /** Add what was met in `file`. */
  addAll(tally: ElementTally, file: string): void {
    for (const [element, met] of tally.#met) this.#count(element, { ...met, file });
  }

  /** Most frequent first. */
  counts(): ElementCount[] {
    return [...this.#met]
      .map(([element, met]) => ({ element, ...met }))
      .sort((a, b) => b.count - a.count || (a.element < b.element ? -1 : 1));
  }

  #count(element: string, met: Met): void {
    const name = countedName(this.#met, element);
    const before = this.#met.get(name);
    if (before === undefined) this.#met.set(name, { ...met });
    else {
      before.count += met.count;
      if (comparePlaces(met, before) < 0) Object.assign(before, { file: met.file, entry: met.entry });
    }
  }
}
