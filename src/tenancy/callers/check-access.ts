/**
 * The checks of a call on a facility's data, in their order (ACC-14).
 * Contract: SIGN-IN-39, SIGN-IN-40, ACC-2, ACC-5, ACC-6, ACC-7, ACC-8, ACC-9, ACC-10, ACC-11, PUB-4.
 */
import type { RequestHeaders } from '../../platform/http/route.ts';
import { isUuid } from '../../platform/uuid.ts';
import { tenancyError } from '../errors.ts';
import type { Module } from '../organisations/modules.ts';
import type { Permission } from '../roles/permissions.ts';
import type { FacilityScope } from '../scope.ts';
import type { FacilityAccess } from './access.ts';
import type { Caller, ConsoleStage, TokenIdentity } from './caller.ts';

/** 401 before the sign-in at the console is finished, 409 for what finishes it afterwards. */
export function requireStage({ stage }: TokenIdentity, stages: readonly ConsoleStage[]): void {
  if (stage !== undefined && stages.includes(stage)) return;
  if (stage === 'signed-in') throw tenancyError('already_signed_in');
  throw tenancyError('sign_in_unfinished');
}

/** 403 while the account must change or set its password: its tokens open nothing but logout. The message says where. */
export function checkPasswordFlags(caller: Caller, passwordPage: string): void {
  if (caller.requiresPasswordSetup)
    throw tenancyError('password_change_required', { passwordPage: undefined });
  if (caller.mustChangePassword) throw tenancyError('password_change_required', { passwordPage });
}

/** The scope that the headers, or the defaults of the account, name: 400 malformed or missing, 403 not allowed. */
export function resolveScope(caller: Caller, headers: RequestHeaders): FacilityScope {
  const organisationId = uuidHeader(headers, 'x-org-id') ?? caller.organisationId;
  const facilityId = uuidHeader(headers, 'x-facility-id') ?? caller.defaultFacilityId;
  if (facilityId === null) throw tenancyError('facility_missing');
  const grant = organisationId === caller.organisationId ? caller.facilities.get(facilityId) : undefined;
  if (grant === undefined) throw tenancyError('tenancy_refused');
  return { organisationId, facilityId, timeZone: grant.timeZone };
}

/** 403 without one of the permissions, then 403 when a module is off for the facility. */
export function checkGrants(caller: Caller, scope: FacilityScope, access: FacilityAccess): void {
  if (!access.permissions.some((permission) => caller.permissions.has(permission)))
    throw tenancyError('permission_missing', { permissions: access.permissions });
  const isOff = (module: Module) => !isOn(caller, scope, module);
  const off = [access.module ?? [], access.alsoModules ?? []].flat().find(isOff);
  if (off !== undefined) throw tenancyError('module_disabled', { module: off });
  const own = access.permissions
    .filter((permission) => caller.permissions.has(permission))
    .flatMap((permission) => access.moduleOf?.[permission] ?? []);
  if (own[0] !== undefined && own.every(isOff)) throw tenancyError('module_disabled', { module: own[0] });
}

/** Whether the caller has the permission and the module is on for the facility. */
export function holdsGrant(
  caller: Caller,
  scope: FacilityScope,
  { permission, module }: { permission: Permission; module: Module },
): boolean {
  return caller.permissions.has(permission) && isOn(caller, scope, module);
}

function isOn(caller: Caller, { facilityId }: FacilityScope, module: Module): boolean {
  return caller.facilities.get(facilityId)?.modules.has(module) ?? false;
}

function uuidHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  // Node.js joins the lines of a header that comes twice by commas, as HTTP allows.
  if (typeof value !== 'string' || value.includes(','))
    throw tenancyError('malformed_header', { header: name, repeated: true });
  if (!isUuid(value)) throw tenancyError('malformed_header', { header: name, repeated: false });
  return value.toLowerCase();
}
