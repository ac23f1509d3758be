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
