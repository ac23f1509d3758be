/** Every page of signed-in people, a line each. Navigation, command palette and screenshots follow. */
export { auditRoute } from './audit/route.ts';
export {
  exchangeCallbacksRoute,
  exchangeConnectionRoute,
  exchangeConnectionsRoute,
  exchangeDeliveryRoute,
  exchangeHeldRoute,
  exchangeRoute,
} from './exchange/route.ts';
export { facilityRoute } from './facility/route.ts';
export { importRoute, importsRoute } from './imports/route.ts';
export { integrationAccountRoute, integrationAccountsRoute } from './integration-accounts/route.ts';
export { myAccountRoute } from './my-account/route.ts';
export { overviewRoute } from './overview/route.ts';
export { patientRoute, patientsRoute } from './patients/route.ts';
export { peopleRoute, personRoute } from './people/route.ts';
export { publishedRecordRoute, publishingRoute, publishTargetsRoute } from './publishing/route.ts';
export { newRoleRoute, roleRoute, rolesRoute } from './roles/route.ts';
export {
  mapChangesRoute,
  mapImportRoute,
  terminologyMapsRoute,
  terminologyRoute,
} from './terminology/route.ts';
