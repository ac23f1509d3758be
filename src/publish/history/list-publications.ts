/** The publication history of an order or a vital set (docs/publish.md). Contract: PUB-45. */

import { requireReplacement } from '../../clinical/fetch/fetch-clinical.ts';
import type { TimePosition } from '../../clinical/fetch/patient-page.store.ts';
import { patientOfTooLarge, type RecordPatient } from '../../clinical/fetch/record-loader.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import { authoriseAccess, type TracedListDependencies } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { PublishSource } from '../plan/prepare-publish.ts';
import type { PublishRun } from '../publish.schema.ts';
import { listRuns } from './publications.store.ts';

export interface ListPublicationsRequest extends PageRequest {
  source: PublishSource;
  id: string;
}

/** 404 outside the scope; 403 when the purpose is refused; 400 for a cursor of another list. */
export async function listPublications(
  { db, accessLog, cursors }: TracedListDependencies,
  { source, id: givenId, ...request }: ListPublicationsRequest,
  context: FacilityContext,
): Promise<Page<PublishRun>> {
  const { scope } = context;
  const id = givenId.toLowerCase();
  const binding = ['publications', source.kind, scope.organisationId, scope.facilityId, id];
  const page = openPage<TimePosition>(cursors, request, binding);
  if (!isUuid(id)) throw notFound(source.name);
  // What was published under an id that was replaced stays listed there.
  const { patientId, refusedPurposes } = await patientOf(source, scope, id);
  await authoriseAccess(accessLog, context, {
    patientId,
    action: `${source.kind}.publications.read`,
    resourceType: source.resourceType,
    resourceId: id,
    refusedPurposes,
  });
  const runs = await listRuns(db, scope, { subject: { kind: source.kind, id }, ...page.slice });
  const shown = page.close(runs, ({ position }) => position);
  return mapPage(shown, ({ position: _position, ...publication }) => publication);
}

/** Also of a record that is too large to be published by now: its history stays. */
async function patientOf(source: PublishSource, scope: FacilityScope, id: string): Promise<RecordPatient> {
  const patient = await source.load(scope, id).catch((error: unknown) => {
    const ofTooLarge = patientOfTooLarge(error);
    if (ofTooLarge === undefined) throw error;
    return ofTooLarge;
  });
  return patient ?? patientOf(source, scope, await requireReplacement(source, scope, id));
}
