/** What every change of a terminology map is done in. Contract: TERM-7, TERM-26. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { requireStillHeld } from '../../tenancy/administration/administer.ts';
import { usesAll } from '../../tenancy/administration/manager.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditedMembers } from '../../tenancy/audit/audit-entry.ts';
import { listFacilities } from '../../tenancy/organisations/organisation.store.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { terminologyError } from '../errors.ts';
import {
  lockMaps,
  lockTimeoutMs,
  type MapChange,
  type MapScope,
  MapsTaken,
  nextChangeTime,
} from './map.store.ts';

const PERMISSION: Permission = 'terminology.maps.organisation';

/** Longer than a change of one entry takes. */
const TURN_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Do `work` in a transaction that all other changes of the organisation's maps wait for: 403 when they are not for this
 * account to change. `work` is told the time of its change, so that changes stand in their order. Who waits for a long
 * one has no connection between its turns, so that those who change something else find one. Throws what PostgreSQL says of a
 * lock that it waited too long for when its time for one is over.
 */
export async function changeMap<T>(
  db: Pool,
  scope: MapScope,
  change: MapChange,
  work: (client: Client, now: Date) => Promise<T>,
): Promise<T> {
  const beganMs = performance.now();
  for (let pauseMs = TURN_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await transaction(db, async (client) => {
        await openMap(client, scope, change);
        return work(client, await nextChangeTime(client, scope, change.now));
      });
    } catch (error) {
      if (!(error instanceof MapsTaken)) throw error;
      const limitMs = await lockTimeoutMs(db);
      if (limitMs > 0 && performance.now() - beganMs > limitMs) throw error.cause;
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }
}

/**
 * Lock the map until the transaction ends, then make sure that the account may change it. In this order, so that a right
 * which was lost while the change waited is not used. What all facilities share is changed by who may use each of them, or
 * by who has the permission for it.
 */
async function openMap(client: Client, scope: MapScope, change: MapChange): Promise<void> {
  await lockMaps(client, scope, TURN_MS);
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
