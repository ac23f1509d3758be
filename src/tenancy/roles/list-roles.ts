/** Lists the roles of an organisation by page. Contract: ADM-11. */
import type { Queryable } from '../../platform/db/database.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../scope.ts';
import { type ListedRole, listRoles } from './role.store.ts';

export interface ListRolesDependencies {
  db: Queryable;
  cursors: CursorCodec;
}

/** 400 for a cursor of another list. */
export async function listRolePage(
  { db, cursors }: ListRolesDependencies,
  scope: OrganisationScope,
  { search, ...request }: PageRequest & { search?: string | undefined },
): Promise<Page<ListedRole>> {
  const page = openPage<readonly [name: string]>(cursors, request, ['roles', scope.organisationId, search]);
  return page.close(await listRoles(db, scope, { ...page.slice, search }), ({ name }) => [name]);
}
