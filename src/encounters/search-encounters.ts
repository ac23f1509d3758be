/**
 * Search the encounters of one patient: in scope, allowed by the privacy setting, traced, page by page.
 * Contract: ENC-25, ENC-27, ENC-28, ENC-29, ENC-37.
 */
import type { TimePosition } from '../clinical/fetch/patient-page.store.ts';
import { openPage } from '../platform/http/paging.ts';
import { isUuid } from '../platform/uuid.ts';
import { authoriseAccess, type TracedListDependencies } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { notFound } from '../tenancy/errors.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { RenderedEncounter } from './encounter.fhir.ts';
import { type ParticipationDependencies, withMappedParticipations } from './mapped-participations.ts';
import { createEncounterSearcher } from './search-encounters.store.ts';
import type { EncounterSearch } from './search-parameters.ts';

export type SearchEncountersDependencies = TracedListDependencies & ParticipationDependencies;

export interface EncounterSearchResult {
  encounters: RenderedEncounter[];
  /** Cursor of the next page; undefined on the last. */
  next: string | undefined;
  /** The patient who must be used in place of the one searched for; null for none. */
  replacedBy: string | null;
}

/** 400 for a cursor of another search; 404 for a patient outside the scope; 403 when the purpose is refused. */
export function createSearchEncounters(
  deps: SearchEncountersDependencies,
): (search: EncounterSearch, context: FacilityContext) => Promise<EncounterSearchResult> {
  const searchPage = createEncounterSearcher(deps.db);
  return async (search, context) => {
    const { scope, purposeOfUse } = context;
    const { patientId, id, status, date, count } = search;
    const request = { limit: count, cursor: search.cursor };
    const page = openPage<TimePosition>(deps.cursors, request, binding(scope, search));
    if (!isUuid(patientId)) throw notFound('The patient');
    const found = await searchPage({ scope, purposeOfUse, patientId, id, status, date, ...page.slice });
    if (found === undefined) throw notFound('The patient');
    await authoriseAccess(deps.accessLog, context, {
      patientId,
      action: 'encounter.search',
      resourceType: 'Encounter',
      resourceId: null,
      refusedPurposes: found.refusedPurposes,
    });
    const { encounters: rows, isCut } = found;
    const { items, nextCursor } = page.close(rows, ({ position }) => position, isCut);
    const encounters = items.map(({ encounter }) => encounter);
    return {
      encounters: await withMappedParticipations(deps, scope, encounters),
      next: nextCursor ?? undefined,
      replacedBy: found.replacedBy,
    };
  };
}

/** A cursor holds for the same scope, patient and filters. The page size may change from page to page. */
function binding({ organisationId, facilityId }: FacilityScope, search: EncounterSearch): (string | null)[] {
  const ids = search.id === undefined ? [] : [`_id=${search.id}`];
  const filters = [search.status ?? null, ...ids, ...search.dates.toSorted()];
  return ['encounter-search', organisationId, facilityId, search.patientId, ...filters];
}
