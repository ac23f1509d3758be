/** What a map file is read into, whatever its format, and what may be said beside it. */
import { DEFAULT_LANGUAGE, type Language, type Words } from '../../platform/words/words.ts';
import type { GivenEntry } from '../maps/map-entry.ts';

/** Where in its file an entry stands: a line of CSV, or a path in a ConceptMap. */
export type EntryPlace = { line: number } | { path: string };

/** A place as a person reads it. */
export function placeText(place: EntryPlace, language: Language = DEFAULT_LANGUAGE): string {
  if ('path' in place) return place.path;
  return language === 'fr' ? `la ligne ${place.line}` : `line ${place.line}`;
}

/** One entry of a file, or why it is none. */
export type ImportRow = EntryPlace & { given: GivenEntry; fault?: Words };

/** Elements or columns of a file that have no place in a map, with how often each was met. */
export type IgnoredElements = Map<string, number>;

export interface MapReadOptions {
  /** Which column of a CSV file holds what; a column that is not named here has its own name. */
  columns?: ReadonlyMap<string, string>;
  /** For entries that have none in their file. */
  localSystem?: string | undefined;
  targetSystem?: string | undefined;
  /** Filled while the file is read. */
  ignored: IgnoredElements;
}
