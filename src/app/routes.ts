/**
 * The table of contents: every method and path, and the route that answers it.
 * Contract: HTTP-1, EXC-53, OPS-24, SEC-20.
 */

import { readResourceRoute } from '../clinical/fetch/read-resource.route.ts';
import { encounterMetadataRoute } from '../encounters/metadata.route.ts';
import { readEncounterRoute } from '../encounters/read-encounter.route.ts';
import { searchEncountersFormRoute, searchEncountersRoute } from '../encounters/search-encounters.route.ts';
import { fetchVitalSetRoute } from '../encounters/vitals/fetch-vital-set.route.ts';
import { listVitalSetsRoute } from '../encounters/vitals/list-vital-sets.route.ts';
import { publishedVitalSet } from '../encounters/vitals/publish-vital-set.route.ts';
import { callbackRoute } from '../exchange/callbacks/callback.route.ts';
import { listCallbacksRoute } from '../exchange/callbacks/list-callbacks.route.ts';
import { testConnectionRoute } from '../exchange/connection-tests/test-connection.route.ts';
import {
  activateSecretRoute,
  changeConnectionRoute,
  createConnectionRoute,
  listConnectionsRoute,
  readConnectionRoute,
  rotateSecretRoute,
  switchConnectionRoute,
} from '../exchange/connections/connections.route.ts';
import { listDeliveriesRoute } from '../exchange/review/list-deliveries.route.ts';
import { readDeliveryPayloadRoute, readDeliveryRoute } from '../exchange/review/read-delivery.route.ts';
import { replayDeliveriesRoute, skipDeliveriesRoute } from '../exchange/review/review-deliveries.route.ts';
import { fetchOrderRoute } from '../investigations/fetch-order.route.ts';
import { unmappedExampleRoute } from '../investigations/lab/unmapped-example.route.ts';
import { listOrdersRoute } from '../investigations/list-orders.route.ts';
import { publishedOrder } from '../investigations/publish-order.route.ts';
import { readPatientRoute } from '../patients/read-patient.route.ts';
import { readPatientFhirRoute } from '../patients/read-patient-fhir.route.ts';
import { searchPatientsRoute } from '../patients/search/search-patients.route.ts';
import { readPrivacyRoute, setPrivacyRoute } from '../patients/set-privacy.route.ts';
import { readAccessLogRoute } from '../privacy/access-log/read-access-log.route.ts';
import { listTargetsRoute } from '../publish/history/list-targets.route.ts';
import { searchPublicationsRoute } from '../publish/history/search-publications.route.ts';
import { publicationsRoute, publishRoute } from '../publish/runs/publish.route.ts';
import { listImportsRoute, readImportRoute } from '../records/import/history/list-imports.route.ts';
import { importRecordsRoute } from '../records/import/import-records.route.ts';
import {
  changeOwnPasswordRoute,
  endOwnSessionRoute,
  listOwnSessionsRoute,
} from '../sign-in/console/own-account.route.ts';
import { endSessionRoute, readSessionRoute, startSessionRoute } from '../sign-in/console/session.route.ts';
import { changePasswordRoute } from '../sign-in/credentials/change-password.route.ts';
import { setUpPasswordRoute } from '../sign-in/credentials/set-up-password.route.ts';
import { jwksRoute } from '../sign-in/keys/jwks.route.ts';
import {
  addPasskeyRoute,
  askForPasskeyRoute,
  beginPasskeyRoute,
  listPasskeysRoute,
  provePasskeyRoute,
  removePasskeyRoute,
} from '../sign-in/passkeys/passkeys.route.ts';
import {
  beginTotpRoute,
  confirmTotpRoute,
  removeTotpRoute,
  renewRecoveryCodesRoute,
} from '../sign-in/second-factor/manage-factors.route.ts';
import { proveCodeRoute } from '../sign-in/second-factor/prove-second-factor.route.ts';
import { loginRoute } from '../sign-in/sessions/login.route.ts';
import { logoutRoute } from '../sign-in/sessions/logout.route.ts';
import { refreshRoute } from '../sign-in/sessions/refresh.route.ts';
import { verifyRoute } from '../sign-in/sessions/verify.route.ts';
import { translateCodeRoute } from '../terminology/lookup/translate-code.route.ts';
import { deleteMapRoute, putMapRoute } from '../terminology/maps/change-maps.route.ts';
import { listChangesRoute, listMapsRoute } from '../terminology/maps/list-maps.route.ts';
import { exportMapsRoute } from '../terminology/transfer/export-maps.route.ts';
import { importMapsRoute } from '../terminology/transfer/import-maps.route.ts';
import { listUnmappedRoute } from '../terminology/unmapped/list-unmapped.route.ts';
import { suggestMapsRoute } from '../terminology/unmapped/suggest-maps.route.ts';
import { administrationRoutes, openedCalls } from './administration-routes.ts';
import { consoleEntranceRoute, consolePageRoute } from './console/console.route.ts';
import { createConsoleFiles } from './console/console-files.ts';
import type { Features } from './features.ts';
import { buildFetches, kindsByType } from './fetches.ts';
import { at, type RouteEntry } from './http/register-route.ts';
import { activityRoute, overviewRoute } from './overview/overview.route.ts';

/** Paths below {base_url}. */
export function apiRoutes(features: Features): RouteEntry[] {
  const fetches = buildFetches(features);
  const vitalSet = publishedVitalSet(features);
  const labOrder = publishedOrder(features, 'laboratory');
  const imagingOrder = publishedOrder(features, 'imaging');
  const entries: RouteEntry[] = [
    at('POST', '/auth/verify', verifyRoute(features)),
    at('POST', '/auth/login', loginRoute(features)),
    at('POST', '/auth/refresh', refreshRoute(features)),
    at('POST', '/auth/logout', logoutRoute(features)),
    at('POST', '/auth/password', changePasswordRoute(features)),
    at('POST', '/auth/password-setup', setUpPasswordRoute(features)),
    at('GET', '/encounters/fhir/metadata', encounterMetadataRoute(features)),
    at('GET', '/encounters/fhir/Encounter', searchEncountersRoute(features)),
    at('POST', '/encounters/fhir/Encounter/_search', searchEncountersFormRoute(features)),
    at('GET', '/encounters/fhir/Encounter/:encounterId', readEncounterRoute(features)),
    at('GET', '/encounters/vitals', listVitalSetsRoute(features)),
    at('GET', '/encounters/vitals/:vitalSetId/clinical/fhir', fetchVitalSetRoute(fetches.vitals.fetch)),
    at('POST', '/encounters/vitals/:vitalSetId/clinical/publish-fhir', publishRoute(features, vitalSet)),
    at('GET', '/encounters/vitals/:vitalSetId/clinical/publish-fhir', publicationsRoute(features, vitalSet)),
    at('GET', '/investigations/lab/orders', listOrdersRoute(features, 'laboratory')),
    at(
      'GET',
      '/investigations/lab/orders/:orderId/clinical/fhir',
      fetchOrderRoute(fetches.laboratory, 'laboratory'),
    ),
    at('POST', '/investigations/lab/orders/:orderId/clinical/publish-fhir', publishRoute(features, labOrder)),
    at(
      'GET',
      '/investigations/lab/orders/:orderId/clinical/publish-fhir',
      publicationsRoute(features, labOrder),
    ),
    at('GET', '/investigations/imaging/orders', listOrdersRoute(features, 'imaging')),
    at(
      'GET',
      '/investigations/imaging/orders/:orderId/clinical/fhir',
      fetchOrderRoute(fetches.imaging, 'imaging'),
    ),
    at(
      'POST',
      '/investigations/imaging/orders/:orderId/clinical/publish-fhir',
      publishRoute(features, imagingOrder),
    ),
    at(
      'GET',
      '/investigations/imaging/orders/:orderId/clinical/publish-fhir',
      publicationsRoute(features, imagingOrder),
    ),
    ...kindsByType(fetches).map(([type, kinds]) =>
      at('GET', `/fhir/${type}/:resourceId`, readResourceRoute(features, type, kinds)),
    ),
    at('GET', '/patients/base', searchPatientsRoute(features)),
    at('GET', '/patients/base/:patientId', readPatientRoute(features)),
    at('GET', '/patients/base/:patientId/clinical/fhir', readPatientFhirRoute(features)),
    at('GET', '/patients/base/:patientId/access-log', readAccessLogRoute(features)),
    at('GET', '/patients/base/:patientId/privacy', readPrivacyRoute(features)),
    at('PUT', '/patients/base/:patientId/privacy', setPrivacyRoute(features)),
    at('GET', '/overview', overviewRoute(features)),
    at('GET', '/overview/activity', activityRoute(features)),
    at('GET', '/publish/targets', listTargetsRoute(features)),
    at('GET', '/publish/publications', searchPublicationsRoute(features)),
    at('GET', '/exchange/connections', listConnectionsRoute(features)),
    at('POST', '/exchange/connections', createConnectionRoute(features)),
    at('GET', '/exchange/connections/:connectionId', readConnectionRoute(features)),
    at('PATCH', '/exchange/connections/:connectionId', changeConnectionRoute(features)),
    at('POST', '/exchange/connections/:connectionId/rotate-secret', rotateSecretRoute(features)),
    at('POST', '/exchange/connections/:connectionId/activate-secret', activateSecretRoute(features)),
    at('POST', '/exchange/connections/:connectionId/enable', switchConnectionRoute(features, 'enable')),
    at('POST', '/exchange/connections/:connectionId/disable', switchConnectionRoute(features, 'disable')),
    at('POST', '/exchange/connections/:connectionId/test', testConnectionRoute(features)),
    at('POST', '/exchange/connections/:connectionId/callback', callbackRoute(features)),
    at('GET', '/exchange/deliveries', listDeliveriesRoute(features)),
    at('POST', '/exchange/deliveries/replay', replayDeliveriesRoute(features)),
    at('POST', '/exchange/deliveries/skip', skipDeliveriesRoute(features)),
    at('GET', '/exchange/deliveries/:deliveryId', readDeliveryRoute(features)),
    at('GET', '/exchange/deliveries/:deliveryId/payload', readDeliveryPayloadRoute(features)),
    at('GET', '/exchange/callbacks', listCallbacksRoute(features)),
    at('GET', '/imports', listImportsRoute(features)),
    at('GET', '/imports/:importId', readImportRoute(features)),
    at('POST', '/imports/fhir', importRecordsRoute({ ...features, db: features.background })),
    at('GET', '/terminology/maps', listMapsRoute(features)),
    at('PUT', '/terminology/maps', putMapRoute(features)),
    at('DELETE', '/terminology/maps', deleteMapRoute(features)),
    at('POST', '/terminology/maps/import', importMapsRoute(features)),
    at('GET', '/terminology/maps/export', exportMapsRoute(features)),
    at('GET', '/terminology/maps/changes', listChangesRoute(features)),
    at('GET', '/terminology/maps/$translate', translateCodeRoute(features)),
    at('GET', '/terminology/unmapped', listUnmappedRoute(features)),
    at('GET', '/terminology/unmapped/suggestions', suggestMapsRoute(features)),
    at('GET', '/terminology/unmapped/example', unmappedExampleRoute(features)),
    ...administrationRoutes(features, () => openedCalls(entries)),
  ];
  return entries;
}

/** Paths below /console/api alone; what is below {base_url} is there too, but for what is open to all. */
export function consoleRoutes(features: Features): RouteEntry[] {
  return [
    at('POST', '/session', startSessionRoute(features)),
    at('GET', '/session', readSessionRoute(features)),
    at('DELETE', '/session', endSessionRoute(features)),
    at('POST', '/session/totp', proveCodeRoute(features, 'totp')),
    at('POST', '/session/recovery-code', proveCodeRoute(features, 'recovery-code')),
    at('POST', '/session/passkey-options', askForPasskeyRoute(features)),
    at('POST', '/session/passkey', provePasskeyRoute(features)),
    at('POST', '/session/password', changeOwnPasswordRoute(features)),
    at('GET', '/sessions', listOwnSessionsRoute(features)),
    at('DELETE', '/sessions/:sessionId', endOwnSessionRoute(features)),
    at('POST', '/second-factor/totp', beginTotpRoute(features)),
    at('POST', '/second-factor/totp/confirm', confirmTotpRoute(features)),
    at('DELETE', '/second-factor/totp', removeTotpRoute(features)),
    at('POST', '/second-factor/passkey-options', beginPasskeyRoute(features)),
    at('POST', '/second-factor/passkeys', addPasskeyRoute(features)),
    at('GET', '/second-factor/passkeys', listPasskeysRoute(features)),
    at('DELETE', '/second-factor/passkeys/:passkeyId', removePasskeyRoute(features)),
    at('POST', '/second-factor/recovery-codes', renewRecoveryCodesRoute(features)),
  ];
}

/** Paths outside the version prefix. */
export function rootRoutes(features: Features): RouteEntry[] {
  return [
    at('GET', '/.well-known/jwks.json', jwksRoute(features)),
    at('GET', '/console', consoleEntranceRoute()),
    at('GET', '/console/*', consolePageRoute(createConsoleFiles())),
  ];
}
