/**
 * Reads one resource of a fetched Bundle by its `fullUrl` (docs/adr/0094). It is taken from the answer of the fetch
 * that it is an entry of, so that its checks, its access log entry and its text are those of that fetch.
 * Contract: FETCH-17, FETCH-18, FETCH-19.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { holdsGrant } from '../../tenancy/callers/check-access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { entryJson } from './collection.fhir.ts';
import { patientOfTooLarge } from './record-loader.ts';
import { type FetchedType, findResourceOwner, type ResourceOwner } from './resource-owner.store.ts';

/** One kind of fetch, with what its route asks of a caller. */
export interface FetchKind {
  permission: Permission;
  module: Module;
  /** The order or vital set of this kind that shows the resource. */
  ownerId: (owner: ResourceOwner) => string | null;
  /** The id of the order that replaced a made-up one, which is gone. */
  findReplacement?: (scope: FacilityScope, id: string) => Promise<string | undefined>;
  /** The bytes of the fetch's answer; 404 and 403 like the fetch. */
  fetch: (ownerId: string, context: FacilityContext) => Promise<Buffer>;
}

/** As JSON text. 404 outside the scope, and where no fetch that the caller may call shows the resource; 403 when the purpose is refused. */
export async function readResource(
  { db, kinds }: { db: Queryable; kinds: readonly FetchKind[] },
  { resourceType, id }: { resourceType: FetchedType; id: string },
  context: FacilityContext,
): Promise<string> {
  const missing = notFound(`The ${resourceType}`);
  if (!isUuid(id)) throw missing;
  const owner = await findResourceOwner(db, context.scope, { resourceType, id });
  if (owner === undefined) {
    const replacing = resourceType === 'ServiceRequest' ? kinds[0]?.findReplacement : undefined;
    const replacement = await replacing?.(context.scope, id);
    if (replacement === undefined) throw missing;
    return readResource({ db, kinds }, { resourceType, id: replacement }, context);
  }
  let refused: unknown = missing;
  for (const kind of kinds) {
    const ownerId = kind.ownerId(owner);
    if (ownerId === null || !holdsGrant(context.caller, context.scope, kind)) continue;
    const answer = await kind.fetch(ownerId, context).catch((error: unknown) => {
      // Another order, or a vital set, may show it all the same.
      if (patientOfTooLarge(error) === undefined) throw error;
      refused = error;
    });
    const resource = answer && entryJson(answer, resourceType, id.toLowerCase());
    if (resource !== undefined) return resource;
  }
  throw refused;
}
