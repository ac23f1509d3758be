/** What a map file is read into, whatever its format. */
import type { GivenEntry } from '../maps/map-entry.ts';

/** Where in its file an entry stands: a line of CSV, or a path in a ConceptMap. */
export type Place = { line: number } | { path: string };

/** A place as a person reads it. */
export function placeText(place: Place): string {
  return 'line' in place ? `line ${place.line}` : place.path;
}

/** One entry of a file, or why it is none. */
export type ImportRow = Place & { given: GivenEntry; fault?: string };

/** Elements or columns of a file that have no place in a map, with how often each was met. */
export type IgnoredElements = Map<string, number>;
