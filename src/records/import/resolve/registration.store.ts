/** Registration of patients at a facility. Contract: PAT-9. */

import type { WriteContext } from '../map/resource-importer.ts';

/** Register patients where they are not yet; returns those that were not. */
export async function registerPatients(
  { client, scope }: Pick<WriteContext, 'client' | 'scope'>,
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
    values: [scope.organisationId, scope.facilityId, patientIds],
  });
  return rows.map(({ id }) => id);
}
