/** Search a facility's patients by name, identifier, phone or email; each one shown is traced. */

import { type SearchTerms, searchTerms } from '../../clinical/resources/search-key.ts';
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { accessEntry, type TracedListDependencies } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { patientError } from '../errors.ts';
import { createPatientSearcher, type FoundPatient, type PatientPosition } from './search-patients.store.ts';

/** Words of one search at most: each is one more condition with a look-up of its own. */
const MAX_WORDS = 8;

export interface PatientSearchRequest extends PageRequest {
  search?: string | undefined;
}

/** Patients whose privacy refuses the purpose are left out. 400 for a cursor of another search. */
export function createSearchPatients({
  db,
  accessLog,
  cursors,
}: TracedListDependencies): (
  request: PatientSearchRequest,
  context: FacilityContext,
) => Promise<Page<FoundPatient>> {
  const searchPage = createPatientSearcher(db);
  return async ({ search = '', ...request }, context) => {
    const { scope, purposeOfUse } = context;
    const terms = termsOf(search);
    const binding = ['patient-search', scope.organisationId, scope.facilityId, terms.identifier, terms.phone];
    const page = openPage<PatientPosition>(cursors, request, binding);
    const found = await searchPage(scope, {
      terms: search.trim() === '' ? undefined : terms,
      purposeOfUse,
      ...page.slice,
    });
    const patients = page.close(found.patients, ({ position }) => position, found.isCut);
    await accessLog.record(
      patients.items.map(({ id }) =>
        accessEntry(
          context,
          { patientId: id, action: 'patient.list', resourceType: 'Patient', resourceId: id },
          'allowed',
        ),
      ),
    );
    return patients;
  };
}

/** A phone number may be written in any number of groups; so many words are no name. */
function termsOf(search: string): SearchTerms {
  const terms = searchTerms(search);
  if (terms.nameStarts.length <= MAX_WORDS) return terms;
  if (terms.phone === '') throw patientError('search_too_long', { maxWords: MAX_WORDS });
  return { ...terms, nameStarts: [] };
}
