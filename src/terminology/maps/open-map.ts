/** What every change of a terminology map begins with. Contract: TERM-7. */
import type { Client } from '../../platform/db/database.ts';
import { requireStillHeld } from '../../tenancy/administration/administer.ts';
import { usesAll } from '../../tenancy/administration/manager.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditedMembers } from '../../tenancy/audit/audit-entry.ts';
import { listFacilities } from '../../tenancy/organisations/organisation.store.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { terminologyError } from '../errors.ts';
import { lockMaps, type MapChange, type MapScope } from './map.store.ts';

const PERMISSION: Permission = 'terminology.maps.organisation';

/**
 * Lock the map until the transaction ends, then make sure that the account may change it: 403 otherwise. In this
 * order, so that a right which was lost while the change waited is not used. What all facilities share is changed by who
 * may use each of them, or by who has the permission for it.
 */
export async function openMap(client: Client, scope: MapScope, change: MapChange): Promise<void> {
  await lockMaps(client, scope);
  const manager = await requireStillHeld(client, scope, {
    author: change.author,
    permission: 'terminology.maps.manage',
    facilityIds: scope.facilityId === null ? [] : [scope.facilityId],
  });
  if (scope.facilityId !== null || manager.permissions.has(PERMISSION)) return;
  const facilityIds = (await listFacilities(client, scope)).map(({ id }) => id);
  if (!usesAll(manager, facilityIds))
    throw terminologyError('permission_missing', { permission: PERMISSION });
}

/** Keep on record that the map was changed; the map itself keeps entry by entry. Contract: ADM-34. */
export async function recordMapChange(
  client: Client,
  scope: MapScope,
  { author }: MapChange,
  { action, after }: { action: 'put' | 'delete' | 'import'; after: AuditedMembers },
): Promise<void> {
  const { organisationId, facilityId } = scope;
  await recordChange(client, scope, author, {
    action: `terminology-map.${action}`,
    subject: { type: 'terminology-map', id: facilityId ?? organisationId },
    facilityIds: facilityId === null ? null : [facilityId],
    after,
  });
}
