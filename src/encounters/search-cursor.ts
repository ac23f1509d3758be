/** Cursors of the encounter search: bound to organisation, facility, patient and filters (docs/adr/0007). */
import type { CursorCodec } from '../platform/http/cursor.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { EncounterPosition } from './search-encounters.store.ts';
import type { EncounterSearch } from './search-parameters.ts';

export interface EncounterCursor {
  /** Throws 400 when the cursor was not made by `encode` for the same scope, patient and filters. */
  decode(cursor: string): EncounterPosition;
  encode(position: EncounterPosition): string;
}

/** The page size is not bound: it may change from page to page. */
export function encounterCursor(
  codec: CursorCodec,
  scope: FacilityScope,
  search: EncounterSearch,
): EncounterCursor {
  const { organisationId, facilityId } = scope;
  const ids = search.id === undefined ? [] : [`_id=${search.id}`];
  const filters = [search.status ?? null, ...ids, ...search.dates.toSorted()];
  const binding = ['encounter-search', organisationId, facilityId, search.patientId, ...filters];
  return {
    decode(cursor) {
      const [start, id] = codec.decode(binding, cursor);
      return { start: String(start), id: String(id) };
    },
    encode: ({ start, id }) => codec.encode(binding, [start, id]),
  };
}
