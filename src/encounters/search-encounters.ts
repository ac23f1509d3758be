/** Search the encounters of one patient: in scope, allowed by the privacy setting, traced, page by page. */
import type { Queryable } from '../platform/db/database.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import { notFound } from '../platform/http/errors.ts';
import { isUuid } from '../platform/uuid.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import type { EncounterRecord } from './encounter.fhir.ts';
import { encounterCursor } from './search-cursor.ts';
import { createEncounterSearcher } from './search-encounters.store.ts';
import type { EncounterSearch } from './search-parameters.ts';

export interface SearchEncountersDependencies {
  db: Queryable;
  accessLog: AccessLog;
  cursors: CursorCodec;
}

export interface EncounterSearchResult {
  encounters: EncounterRecord[];
  /** Cursor of the next page; undefined on the last. */
  next: string | undefined;
}

/** 400 for a cursor of another search; 404 for a patient outside the scope; 403 when the purpose is refused. */
export function createSearchEncounters(
  deps: SearchEncountersDependencies,
): (search: EncounterSearch, context: FacilityContext) => Promise<EncounterSearchResult> {
  const searchPage = createEncounterSearcher(deps.db);
  return async (search, context) => {
    const { scope } = context;
    const { patientId, id, status, date, count } = search;
    const cursor = encounterCursor(deps.cursors, scope, search);
    const after = search.cursor === undefined ? undefined : cursor.decode(search.cursor);
    if (!isUuid(patientId)) throw notFound('The patient');
    const page = await searchPage({ scope, patientId, id, status, date, after, count });
    if (page === undefined) throw notFound('The patient');
    await authoriseAccess(deps.accessLog, context, {
      patientId,
      action: 'encounter.search',
      resourceType: 'Encounter',
      resourceId: null,
      refusedPurposes: page.refusedPurposes,
    });
    return { encounters: page.encounters, next: page.next && cursor.encode(page.next) };
  };
}
