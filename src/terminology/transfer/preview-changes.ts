/**
 * What an import would change, entry by entry: the first of those that it would add, and the first of those that it
 * would change, so that a long list of new entries does not hide what is replaced. Contract: TERM-23.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { MapKey, MapScope } from '../maps/map.store.ts';
import type { MapEntry } from '../maps/map-entry.ts';
import type { EntryPlace } from './import-row.ts';
import { findDifferences, type MapContent } from './preview-changes.store.ts';

/** Of each kind. */
export const CHANGES_AT_MOST = 200;

export type PreviewedChange = EntryPlace &
  MapKey & {
    kind: 'created' | 'changed';
    /** Null for an entry that is new. */
    before: MapContent | null;
    after: MapContent;
  };

export type PlacedEntry = { place: EntryPlace; entry: MapEntry };

/** Adds to the changes what these entries would change, in the order of the file. To be asked before they are written. */
export async function noteChanges(
  db: Queryable,
  scope: MapScope,
  { changes, placed }: { changes: PreviewedChange[]; placed: readonly PlacedEntry[] },
): Promise<void> {
  const leftOf = (kind: PreviewedChange['kind']) =>
    CHANGES_AT_MOST - changes.filter((change) => change.kind === kind).length;
  const left = { created: leftOf('created'), changed: leftOf('changed') };
  if (left.created === 0 && left.changed === 0) return;
  const entries = placed.map(({ entry }) => entry);
  for (const { position, before } of await findDifferences(db, scope, entries)) {
    const kind = before === null ? 'created' : 'changed';
    const given = placed[position];
    if (left[kind] === 0 || given === undefined) continue;
    left[kind] -= 1;
    const { localSystem, localCode, targetSystem, ...after } = given.entry;
    changes.push({ ...given.place, kind, localSystem, localCode, targetSystem, before, after });
  }
}
