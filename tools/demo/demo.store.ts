/** Finds something worth showing among the demo records. */
import type { Queryable } from '../../src/platform/db/database.ts';

export interface Showcase {
  patientId: string;
  family: string;
  encounterId: string;
  labOrderId: string;
  imagingOrderId: string;
  vitalSetId: string;
}

/**
 * The patient with the most encounters and the newest of them; the newest order of each kind and vital set, of
 * that patient where there is one. Undefined when one of these is missing.
 */
export async function findShowcase(
  db: Queryable,
  scope: { organisationId: string; facilityId: string },
): Promise<Showcase | undefined> {
  const { rows } = await db.query<Showcase>({
    text: `
      with chosen as (
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
        limit 1
      ),
      investigation as (
        select distinct on (o.discipline) o.discipline, o.id
        from investigation_order o, chosen
        where o.organisation_id = $1
          and o.facility_id = $2
        order by o.discipline, (o.patient_id = chosen.patient_id) desc, o.sort_at desc
      ),
      measured as (
        select s.id
        from vital_set s, chosen
        where s.organisation_id = $1
          and s.facility_id = $2
        order by (s.patient_id = chosen.patient_id) desc, s.taken_at desc
        limit 1
      )
      select chosen.patient_id as "patientId", chosen.family, chosen.encounter_id as "encounterId",
        lab.id as "labOrderId", imaging.id as "imagingOrderId", measured.id as "vitalSetId"
      from chosen, investigation lab, investigation imaging, measured
      where lab.discipline = 'laboratory'
        and imaging.discipline = 'imaging'`,
    values: [scope.organisationId, scope.facilityId],
  });
  return rows[0];
}
