/** Practitioners, organisations and locations that records point at, as FHIR R4. Contract: PUB-25. */
import { resourceObject } from '../../clinical/description/describe.ts';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { type DirectoryIds, findDirectory } from './directory.store.ts';

/** Those that are there; the organisation itself is an Organization too. */
export async function loadDirectory(
  db: Queryable,
  scope: OrganisationScope,
  ids: DirectoryIds,
): Promise<FhirResource[]> {
  if (Object.values(ids).every((list) => list.length === 0)) return [];
  const rows = await findDirectory(db, scope, ids);
  // No map says anything of what is not clinical.
  const context = { organisationId: scope.organisationId, translate: <Concept>(concept: Concept) => concept };
  return rows.map(({ description, record }) => resourceObject(description, record, context));
}
