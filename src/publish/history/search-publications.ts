/**
 * The publishes of a facility, across orders and vital sets (docs/publish.md). Contract: ADM-43, ADM-44, ADM-45.
 */
import type { TimePosition } from '../../clinical/fetch/patient-page.store.ts';
import { patientIdIn } from '../../fhir/reference.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import { authoriseAccess, type TracedListDependencies } from '../../privacy/authorise-access.ts';
import { findRefusedPurposes } from '../../privacy/refused-purposes.store.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import { failureWithoutCodes } from '../errors.ts';
import { type ListedPublication, listPublicationPage, type PublicationFilter } from './publications.store.ts';

export interface SearchPublicationsRequest extends PageRequest {
  filter: Omit<PublicationFilter, 'patientId'>;
  /** Bare, or as Patient/<id>. */
  patient?: string | undefined;
}

/**
 * Of one patient: 404 outside the scope, 403 when the purpose is refused, and the access is logged. Of all: nobody is
 * named, only ids, states and counts are told.
 */
export async function searchPublications(
  { db, accessLog, cursors }: TracedListDependencies,
  { filter, patient, ...request }: SearchPublicationsRequest,
  context: FacilityContext,
): Promise<Page<Omit<ListedPublication, 'position'>>> {
  const { scope } = context;
  const { organisationId, facilityId } = scope;
  const patientId = patient === undefined ? undefined : patientIdIn(patient);
  const { kind, state, target, since, until } = filter;
  const about = [organisationId, facilityId, patientId, kind, state, target];
  const times = [since?.toISOString(), until?.toISOString()];
  const page = openPage<TimePosition>(cursors, request, ['all-publications', ...about, ...times]);
  if (patientId !== undefined) {
    const refusedPurposes = isUuid(patientId) ? await findRefusedPurposes(db, scope, patientId) : undefined;
    if (refusedPurposes === undefined) throw notFound('The patient');
    await authoriseAccess(accessLog, context, {
      patientId,
      refusedPurposes,
      action: 'publication.list',
      resourceType: 'Patient',
      resourceId: patientId,
    });
  }
  const runs = await listPublicationPage(db, scope, { filter: { ...filter, patientId }, ...page.slice });
  const shown = page.close(runs, ({ position }) => position);
  return mapPage(shown, ({ position: _position, failure, ...run }) => ({
    ...run,
    failure: failure === null || patientId !== undefined ? failure : failureWithoutCodes(failure),
  }));
}
