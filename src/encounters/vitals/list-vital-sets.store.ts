/** SQL of the list of vital sets: one page of one patient, newest first. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

/** `taken_at` as PostgreSQL writes it, and the id. */
export type VitalSetPosition = readonly [at: string, id: string];

export interface ListedVitalSet {
  id: string;
  encounterId: string | null;
  takenText: string;
  signs: number;
}

export interface VitalSetPage {
  refusedPurposes: readonly string[];
  sets: ListedVitalSet[];
}

interface VitalSetRow {
  refused_purposes: string[];
  id: string | null;
  encounter_id: string | null;
  taken_text: string;
  signs: number;
}

const BEFORE_ALL: VitalSetPosition = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** Undefined: no such patient at the facility. */
export async function listVitalSetPage(
  db: Queryable,
  scope: FacilityScope,
  { patientId, after = BEFORE_ALL, limit }: Slice<VitalSetPosition> & { patientId: string },
): Promise<VitalSetPage | undefined> {
  const { rows } = await db.query<VitalSetRow>({
    name: 'vital-set-list',
    text: `
      select p.refused_purposes, page.*
      from patient_registration g
      join patient p
        on p.organisation_id = g.organisation_id
        and p.id = g.patient_id
      left join lateral (
        select v.id, v.encounter_id, v.taken_at, v.taken_at::text as taken_text,
          (
            select count(*)::int
            from observation b
            where b.organisation_id = $1
              and b.facility_id = $2
              and b.vital_set_id = v.id
          ) as signs
        from vital_set v
        where v.organisation_id = $1
          and v.facility_id = $2
          and v.patient_id = $3
          and (v.taken_at, v.id) < ($4::timestamptz, $5::uuid)
        order by v.taken_at desc, v.id desc
        limit $6
      ) page on true
      where g.organisation_id = $1
        and g.facility_id = $2
        and g.patient_id = $3
      order by page.taken_at desc, page.id desc`,
    values: [scope.organisationId, scope.facilityId, patientId, ...after, limit],
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  const found = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return {
    refusedPurposes: first.refused_purposes,
    sets: found.map((row) => ({
      id: row.id,
      encounterId: row.encounter_id,
      takenText: row.taken_text,
      signs: row.signs,
    })),
  };
}
