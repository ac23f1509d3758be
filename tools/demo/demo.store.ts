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
  const { rows } = await db.query<ShowcaseRow>({
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
      select chosen.*, lab.id as lab_order_id, imaging.id as imaging_order_id, measured.id as vital_set_id
      from chosen, investigation lab, investigation imaging, measured
      where lab.discipline = 'laboratory'
        and imaging.discipline = 'imaging'`,
    values: [scope.organisationId, scope.facilityId],
  });
  const row = rows[0];
  return row === undefined
    ? undefined
    : {
        patientId: row.patient_id,
        family: row.family,
        encounterId: row.encounter_id,
        labOrderId: row.lab_order_id,
        imagingOrderId: row.imaging_order_id,
        vitalSetId: row.vital_set_id,
      };
}

interface ShowcaseRow {
  patient_id: string;
  family: string;
  encounter_id: string;
  lab_order_id: string;
  imaging_order_id: string;
  vital_set_id: string;
}
