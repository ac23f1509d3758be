/** Practitioners, organisations and locations that records point at, as FHIR R4. Contract: PUB-25. */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { type Identifier, ownIdentifier } from '../../fhir/coded.ts';
import { compact } from '../../fhir/compact.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { type DirectoryIds, type DirectoryRow, findDirectory } from './directory.store.ts';

/** Those that are there; the organisation itself is an Organization too. */
export async function loadDirectory(
  db: Queryable,
  scope: OrganisationScope,
  ids: DirectoryIds,
): Promise<FhirResource[]> {
  if (Object.values(ids).every((list) => list.length === 0)) return [];
  const rows = await findDirectory(db, scope, ids);
  return rows.map((row) => directoryResource(scope.organisationId, row));
}

function directoryResource(organisationId: string, row: DirectoryRow): FhirResource {
  const { resourceType, id, content } = row;
  const given = (content.identifier ?? []) as Identifier[];
  const { identifier: _identifier, ...elements } = content;
  return {
    resourceType,
    id,
    ...compact({
      identifier: given.length > 0 ? given : [ownIdentifier(organisationId, id)],
      ...elements,
    }),
  };
}
