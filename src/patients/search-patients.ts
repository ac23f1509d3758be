/** Search a facility's patients by name, identifier, phone or email; each one shown is traced. */
import type { Queryable } from '../platform/db/database.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import { badRequest } from '../platform/http/errors.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { accessEntry } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import type { PatientRecord } from './patient.ts';
import { searchTerms } from './search-key.ts';
import { type PatientPosition, searchPatientPage } from './search-patients.store.ts';

/** Words of one search at most: each is a join. */
const MAX_WORDS = 8;

export interface SearchPatientsDependencies {
  db: Queryable;
  accessLog: AccessLog;
  cursors: CursorCodec;
}

export interface PatientSearchRequest {
  search: string | undefined;
  limit: number;
  cursor: string | undefined;
}

/** Patients whose privacy refuses the purpose are left out. 400 for a cursor of another search. */
export async function searchPatients(
  { db, accessLog, cursors }: SearchPatientsDependencies,
  { search = '', limit, cursor }: PatientSearchRequest,
  context: FacilityContext,
): Promise<{ patients: PatientRecord[]; nextCursor: string | null }> {
  const { scope, purposeOfUse } = context;
  const terms = searchTerms(search);
  if (terms.nameStarts.length > MAX_WORDS)
    throw badRequest(`search takes up to ${MAX_WORDS} words.`, 'search_too_long');
  const binding = ['patient-search', scope.organisationId, scope.facilityId, terms.identifier, terms.phone];
  const page = await searchPatientPage(db, scope, {
    terms: search.trim() === '' ? undefined : terms,
    purposeOfUse,
    after: cursor === undefined ? undefined : toPosition(cursors.decode(binding, cursor)),
    limit,
  });
  await accessLog.record(
    page.patients.map(({ id }) =>
      accessEntry(
        context,
        { patientId: id, action: 'patient.list', resourceType: 'Patient', resourceId: id },
        'allowed',
      ),
    ),
  );
  const { patients, next } = page;
  return {
    patients,
    nextCursor: next === undefined ? null : cursors.encode(binding, [next.sortName, next.id]),
  };
}

function toPosition([sortName, id]: (string | number)[]): PatientPosition {
  return { sortName: String(sortName), id: String(id) };
}
