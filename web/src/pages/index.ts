/** The routes of every page of signed-in people, a line each. Navigation, command palette and screenshots follow. */
export * from './audit/route.ts';
export * from './exchange/route.ts';
export * from './facility/route.ts';
export * from './imports/route.ts';
export * from './integration-accounts/route.ts';
export * from './my-account/route.ts';
export * from './overview/route.ts';
export * from './patients/route.ts';
export * from './people/route.ts';
export * from './publishing/route.ts';
export * from './roles/route.ts';
export * from './terminology/route.ts';
