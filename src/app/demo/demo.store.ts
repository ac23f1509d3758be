/** Finds something worth showing among the demo records. */
import type { Queryable } from '../../platform/db/database.ts';

export interface Showcase {
  patientId: string;
  family: string;
  encounterId: string;
}

/** The patient with the most encounters, and the newest of them. Undefined when there are no records. */
export async function findShowcase(
  db: Queryable,
  scope: { organisationId: string; facilityId: string },
): Promise<Showcase | undefined> {
  const { rows } = await db.query<{ patient_id: string; family: string; encounter_id: string }>({
    text: `
      select e.patient_id, n.family, (array_agg(e.id order by e.sort_start desc))[1] as encounter_id
      from encounter e
      join patient_name n
        on n.organisation_id = e.organisation_id
        and n.patient_id = e.patient_id
        and n.position = 0
      where e.organisation_id = $1
        and e.facility_id = $2
      group by e.patient_id, n.family
      order by count(*) desc, e.patient_id
      limit 1`,
    values: [scope.organisationId, scope.facilityId],
  });
  const row = rows[0];
  return row === undefined
    ? undefined
    : { patientId: row.patient_id, family: row.family, encounterId: row.encounter_id };
}
