/** Whom and what an administrator may manage (docs/adr/0140). Contract: ADM-2, ADM-3, ADM-4. */
import { tenancyError } from '../errors.ts';
import type { Permission } from '../roles/permissions.ts';

/** Who makes a change, with the rights of this moment. */
export interface Manager {
  /** Null for the operator, who may do everything. */
  readonly accountId: string | null;
  readonly permissions: ReadonlySet<string>;
  readonly facilityIds: ReadonlySet<string>;
}

/** 403 without one of the permissions. */
export function requirePermission(manager: Manager, anyOf: readonly Permission[]): void {
  if (manager.accountId === null || anyOf.some((name) => manager.permissions.has(name))) return;
  throw tenancyError('permission_missing', { permissions: anyOf });
}

/** 403 for permissions that the manager does not hold: nobody gives or takes what is not theirs. */
export function requireHeld(manager: Manager, permissions: readonly string[]): void {
  if (manager.accountId === null) return;
  const lacking = permissions.filter((name) => !manager.permissions.has(name));
  if (lacking.length > 0) throw tenancyError('permission_not_held', { permissions: lacking });
}

/** 403 for facilities that the manager may not use. */
export function requireOwnFacilities(manager: Manager, facilityIds: readonly string[]): void {
  if (!usesAll(manager, facilityIds)) throw tenancyError('facility_not_held');
}

export function usesAll({ accountId, facilityIds: own }: Manager, facilityIds: readonly string[]): boolean {
  return accountId === null || facilityIds.every((id) => own.has(id.toLowerCase()));
}

export function usesAny({ accountId, facilityIds: own }: Manager, facilityIds: readonly string[]): boolean {
  return accountId === null || facilityIds.some((id) => own.has(id.toLowerCase()));
}
