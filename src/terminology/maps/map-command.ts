/** What the `interchange terminology` commands have in common. */

import type { Pool } from '../../platform/db/database.ts';
import { requireFacility, requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { terminologyError } from '../errors.ts';
import type { MapScope } from './map.store.ts';

/** The options that every one of them takes. */
export interface MapOptions {
  organisation: string;
  facility?: string;
}

/** The map that a command is about. Throws when an id is malformed or unknown. */
export async function requireMap(db: Pool, { organisation, facility }: MapOptions): Promise<MapScope> {
  if (facility === undefined) await requireOrganisation(db, organisation);
  else await requireFacility(db, organisation, facility);
  return { organisationId: organisation.toLowerCase(), facilityId: facility?.toLowerCase() ?? null };
}

/** `--limit` as a number from 1 to 1,000. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,2}$|^1000$/.test(text)) throw terminologyError('bad_limit', { field: 'limit' });
  return Number(text);
}
