/** Registration of patients at a facility. */
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

/** Register patients where they are not yet; returns those that were not. */
export async function registerPatients(
  client: Client,
  { organisationId, facilityId }: FacilityScope,
  patientIds: readonly string[],
): Promise<string[]> {
  if (patientIds.length === 0) return [];
  const { rows } = await client.query<{ id: string }>({
    name: 'import-register-patients',
    text: `insert into patient_registration (organisation_id, facility_id, patient_id)
      select $1, $2, id
      from unnest($3::uuid[]) as id
      order by id
      on conflict do nothing
      returning patient_id as id`,
    values: [organisationId, facilityId, patientIds],
  });
  return rows.map(({ id }) => id);
}
