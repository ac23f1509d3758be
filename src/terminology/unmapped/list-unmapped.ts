/** Lists the local codes that were met and that no map covers, most frequent first. */
import { type ListDependencies, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { type ListedCode, listUnmapped, type UnmappedPosition } from './unmapped.store.ts';

export interface ListUnmappedRequest extends PageRequest {
  /** Only of this facility; null for all of the organisation. */
  facilityId: string | null;
  place?: string | undefined;
}

/** 400 for a cursor of another list. */
export async function listUnmappedCodes(
  { db, cursors }: ListDependencies,
  scope: OrganisationScope,
  { facilityId, place, ...request }: ListUnmappedRequest,
): Promise<Page<ListedCode>> {
  const binding = ['terminology-unmapped', scope.organisationId, facilityId, place];
  const page = openPage<UnmappedPosition>(cursors, request, binding);
  const codes = await listUnmapped(db, scope, { facilityId, place, ...page.slice });
  return page.close(codes, (code) => [code.count, code.facilityId, code.localSystem, code.localCode]);
}
