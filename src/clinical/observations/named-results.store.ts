/** SQL that tells whose the results are that a record names. */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

/** A result at the facility, of a patient who is registered there. */
export interface NamedResult {
  id: string;
  patient: { id: string; refusedPurposes: readonly string[] };
}

export async function loadNamedResults(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  ids: readonly string[],
): Promise<NamedResult[]> {
  const { rows } = await db.query<{ id: string; patient_id: string; refused_purposes: string[] }>({
    name: 'observations-named-results',
    text: `
      select o.id, o.patient_id, p.refused_purposes
      from observation o
      join patient_registration r
        on r.organisation_id = $1
        and r.facility_id = $2
        and r.patient_id = o.patient_id
      join patient p
        on p.organisation_id = $1
        and p.id = o.patient_id
      where o.organisation_id = $1
        and o.facility_id = $2
        and o.id = any($3::uuid[])`,
    values: [organisationId, facilityId, ids],
  });
  return rows.map((row) => ({
    id: row.id,
    patient: { id: row.patient_id, refusedPurposes: row.refused_purposes },
  }));
}
