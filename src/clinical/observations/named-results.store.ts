/** SQL that tells whose the results are that a record names. */
import { rowById, rowByKey } from '../../platform/db/by-key.ts';
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
      from (select distinct id from unnest($3::uuid[]) id) asked
      cross join ${rowById('observation', 'o', 'asked.id', 'o.id, o.patient_id')} o
      cross join ${rowByKey('patient_registration', 'r', { facility_id: '$2', patient_id: 'o.patient_id' }, 'r.patient_id')} r
      cross join ${rowByKey('patient', 'p', { id: 'r.patient_id' }, 'p.refused_purposes')} p`,
    values: [organisationId, facilityId, ids],
  });
  return rows.map((row) => ({
    id: row.id,
    patient: { id: row.patient_id, refusedPurposes: row.refused_purposes },
  }));
}
