import type { Permission } from '../../tenancy/roles/permissions.ts';

/** Of whoever looks after something. The console reads them as well. */
export const OVERVIEW_PERMISSIONS: readonly Permission[] = [
  'exchange.deliveries.read',
  'exchange.connections.manage',
  'publish.publications.read',
  'records.import',
  'terminology.maps.read',
  'terminology.maps.manage',
  'accounts.manage',
  'people.manage',
  'roles.manage',
];
