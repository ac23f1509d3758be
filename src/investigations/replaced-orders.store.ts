/**
 * SQL of made-up orders that are gone, because what they stood for came under another order (docs/adr/0110). Their ids
 * were given out, so each leads to the order that its part is under now.
 * Contract: IN-38.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { PART_TABLES, type PartTable } from './place-parts.store.ts';

/** A part of the patient of the order that it left. */
export interface LeavingPart {
  table: PartTable;
  partId: string;
  patientId: string;
}

/** Remember a part that left each of these made-up orders at last, by the id of the order. */
export async function noteReplaced(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  partByOrder: ReadonlyMap<string, LeavingPart>,
): Promise<void> {
  if (partByOrder.size === 0) return;
  const parts = [...partByOrder.values()];
  await db.query({
    name: 'grouping-note-replaced',
    text: `
      insert into replaced_order (organisation_id, facility_id, id, part_table, part_id, patient_id)
      select $1, $2, id, part_table, part_id, patient_id
      from unnest($3::uuid[], $4::text[], $5::uuid[], $6::uuid[]) as replaced (id, part_table, part_id, patient_id)
      order by id
      on conflict (organisation_id, facility_id, id) do update
      set part_table = excluded.part_table,
        part_id = excluded.part_id,
        patient_id = excluded.patient_id`,
    values: [
      organisationId,
      facilityId,
      [...partByOrder.keys()],
      parts.map(({ table }) => table),
      parts.map(({ partId }) => partId),
      parts.map(({ patientId }) => patientId),
    ],
  });
}

/**
 * The id of the order that replaced a made-up one, which is gone. Undefined when that is still there, or never was, and
 * where what it stood for turned out to be about another patient.
 */
export async function findReplacement(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  id: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>({
    name: 'investigation-replacement',
    text: `
      select part.order_id as id
      from (
        ${PART_TABLES.map(
          (table) => `select part.order_id
        from replaced_order r
        join ${table} part
          on part.organisation_id = $1
          and part.facility_id = $2
          and part.id = r.part_id
          and part.patient_id = coalesce(r.patient_id, part.patient_id)
        where r.organisation_id = $1
          and r.facility_id = $2
          and r.id = $3
          and r.part_table = '${table}'`,
        ).join('\n        union all\n        ')}
      ) part
      where not exists (
        select
        from investigation_order o
        where o.organisation_id = $1
          and o.facility_id = $2
          and o.id = $3)`,
    values: [organisationId, facilityId, id],
  });
  return rows[0]?.id;
}
