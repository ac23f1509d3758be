/** The administration of an organisation over HTTP. Contract: ADM-12. */
import { traceShownSettings } from '../patients/trace-shown-settings.ts';
import {
  endAccountSessionRoute,
  endAccountSessionsRoute,
  listAccountSessionsRoute,
} from '../sign-in/administration/account-sessions.route.ts';
import {
  changeAccountRoute,
  createAccountRoute,
  listAccountsRoute,
  readAccountRoute,
} from '../sign-in/administration/accounts.route.ts';
import { resetPasswordRoute, stepRoute } from '../sign-in/administration/manage-account.route.ts';
import { exportAuditRoute, listAuditRoute } from '../tenancy/audit/audit.route.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { changeFacilityRoute, listFacilitiesRoute } from '../tenancy/organisations/facilities.route.ts';
import {
  changeRoleRoute,
  createRoleRoute,
  deleteRoleRoute,
  listPermissionsRoute,
  listRolesRoute,
  type OpenedCall,
} from '../tenancy/roles/roles.route.ts';
import type { Features } from './features.ts';
import { at, type RouteEntry } from './http/register-route.ts';

export function administrationRoutes(features: Features, calls: () => readonly OpenedCall[]): RouteEntry[] {
  const audit = {
    ...features,
    traceShown: (context: FacilityContext) => traceShownSettings(features.accessLog, context),
  };
  return [
    at('GET', '/accounts', listAccountsRoute(features)),
    at('POST', '/accounts', createAccountRoute(features)),
    at('GET', '/accounts/:accountId', readAccountRoute(features)),
    at('PATCH', '/accounts/:accountId', changeAccountRoute(features)),
    at('POST', '/accounts/:accountId/reset-password', resetPasswordRoute(features)),
    at('POST', '/accounts/:accountId/disable', stepRoute(features, 'disable')),
    at('POST', '/accounts/:accountId/enable', stepRoute(features, 'enable')),
    at('POST', '/accounts/:accountId/unlock', stepRoute(features, 'unlock')),
    at('POST', '/accounts/:accountId/remove-second-factor', stepRoute(features, 'remove-second-factor')),
    at('GET', '/accounts/:accountId/sessions', listAccountSessionsRoute(features)),
    at('DELETE', '/accounts/:accountId/sessions', endAccountSessionsRoute(features)),
    at('DELETE', '/accounts/:accountId/sessions/:sessionId', endAccountSessionRoute(features)),
    at('GET', '/roles', listRolesRoute(features)),
    at('POST', '/roles', createRoleRoute(features)),
    at('GET', '/roles/permissions', listPermissionsRoute(calls)),
    at('PATCH', '/roles/:roleId', changeRoleRoute(features)),
    at('DELETE', '/roles/:roleId', deleteRoleRoute(features)),
    at('GET', '/facilities', listFacilitiesRoute(features)),
    at('PATCH', '/facilities/:facilityId', changeFacilityRoute(features)),
    at('GET', '/administration/audit', listAuditRoute(audit)),
    at('GET', '/administration/audit/export', exportAuditRoute(audit)),
  ];
}

/** The calls of routes, with the permissions that open them. */
export function openedCalls(entries: readonly RouteEntry[]): OpenedCall[] {
  return entries.map(({ method, path, route: { access, docs } }) => ({
    method,
    path,
    summary: docs.summary,
    permissions: access.kind === 'facility' ? access.permissions : [],
  }));
}
