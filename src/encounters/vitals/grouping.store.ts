/** SQL that gathers vital signs into vital sets (docs/fhir-mapping.md, "Grouping"). */

import { hasId, rowById, setById } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { RANDOM_VERSION } from '../../platform/db/random-version.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

export interface GroupedVitalSign {
  id: string;
  vitalSign: boolean;
  vitalSetId: string | null;
  patientId: string;
  encounterId: string | null;
  /** FHIR text; null where the source gave none. */
  effectiveStart: string | null;
  /** As PostgreSQL writes it. */
  effectiveAt: string | null;
}

export async function vitalSignsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<GroupedVitalSign[]> {
  const { rows } = await db.query<GroupedVitalSign>({
    name: 'grouping-vital-signs',
    text: `
      select o.id, o.vital_sign as "vitalSign", o.vital_set_id as "vitalSetId", o.patient_id as "patientId",
        o.encounter_id as "encounterId", coalesce(o.effective_start, o.effective_end) as "effectiveStart",
        o.effective_at::text as "effectiveAt"
      from unnest($3::uuid[]) as asked (id)
      -- By its whole key: see src/investigations/grouping.store.ts.
      cross join ${rowById('observation', 'o', 'asked.id', '*')} o
      where o.vital_sign
        or o.vital_set_id is not null`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

export interface NewVitalSet {
  id: string;
  patientId: string;
  encounterId: string | null;
  takenAt: string;
}

/**
 * A set that was removed may come again under the same id. Its versions then start anew at random: a version
 * that somebody still holds an answer of must never mean something else.
 */
export async function writeVitalSets(
  db: Queryable,
  scope: FacilityScope,
  sets: readonly NewVitalSet[],
): Promise<void> {
  await db.query({
    name: 'grouping-vital-sets',
    text: `
      insert into vital_set (organisation_id, facility_id, id, patient_id, encounter_id, taken_at, version)
      select $1, $2, incoming.id, incoming.patient_id, incoming.encounter_id, incoming.taken_at,
        ${RANDOM_VERSION}
      from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[])
        as incoming (id, patient_id, encounter_id, taken_at)
      order by incoming.id
      on conflict (organisation_id, facility_id, id) do nothing`,
    values: [
      scope.organisationId,
      scope.facilityId,
      sets.map(({ id }) => id),
      sets.map(({ patientId }) => patientId),
      sets.map(({ encounterId }) => encounterId),
      sets.map(({ takenAt }) => takenAt),
    ],
  });
}

/** Put vital signs into sets, by id. */
export async function moveVitalSigns(
  db: Queryable,
  scope: FacilityScope,
  moves: ReadonlyMap<string, string | null>,
): Promise<void> {
  await db.query({
    text: setById('observation', 'vital_set_id', 'uuid'),
    values: [scope.organisationId, scope.facilityId, [...moves.keys()], [...moves.values()]],
  });
}

/** A new version of sets whose signs changed; those that nothing is left of are removed. */
export async function touchVitalSets(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<void> {
  const values = [scope.organisationId, scope.facilityId, ids];
  await db.query({
    text: `
      delete from vital_set v
      where ${hasId('v', '$3::uuid[]')}
        and (
          select count(*)
          from (
            select 1
            from observation b
            where b.organisation_id = $1
              and b.facility_id = $2
              and b.vital_set_id = v.id
            limit 1
          ) sign
        ) = 0`,
    values,
  });
  await db.query({
    text: `
      update vital_set v
      set version = version + 1,
        updated_at = now()
      where ${hasId('v', '$3::uuid[]')}`,
    values,
  });
}
