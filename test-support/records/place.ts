import type { Pool } from '../../src/platform/db/database.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import type { FacilityScope } from '../../src/tenancy/scope.ts';

/** A facility of an organisation of its own, with every module on. */
export async function createPlace(db: Pool): Promise<FacilityScope> {
  const { id: organisationId } = await createOrganisation(db, { name: 'Test Organisation' });
  const { id: facilityId } = await createFacility(db, { organisationId, name: 'Test Facility' });
  return { organisationId, facilityId, timeZone: 'UTC' };
}
