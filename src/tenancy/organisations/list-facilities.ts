/** Lists the facilities that an account may use. Contract: ADM-20. */
import type { Queryable } from '../../platform/db/database.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { Caller } from '../callers/caller.ts';
import { type Facility, type FacilityPosition, listFacilityPage } from './organisation.store.ts';

export interface ListFacilitiesDependencies {
  db: Queryable;
  cursors: CursorCodec;
}

/** 400 for a cursor of another list. */
export async function listOwnFacilities(
  { db, cursors }: ListFacilitiesDependencies,
  caller: Pick<Caller, 'organisationId' | 'accountId' | 'facilities'>,
  request: PageRequest,
): Promise<Page<Facility>> {
  const binding = ['facilities', caller.organisationId, caller.accountId];
  const page = openPage<FacilityPosition>(cursors, request, binding);
  const facilityIds = [...caller.facilities.keys()];
  const found = await listFacilityPage(db, caller, { ...page.slice, facilityIds });
  return page.close(found, ({ name, id }) => [name, id]);
}
