/** SQL of the specimens that orders, results and reports name. Contract: FETCH-35. */
import { type Field, parts } from '../clinical/content/document.ts';
import { ordersShowing } from '../clinical/fetch/resource-owner.store.ts';
import { SPECIMEN } from '../clinical/resources/specimen.fhir.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

/** SQL of the ids in a list of pointers, as text. */
const idsIn = (list: string) => `select pointer ->> 'id' as id from jsonb_array_elements(${list}) pointer`;

/**
 * The specimens that an order aliased `o`, its results, its reports and the results that these list name. Nothing of
 * another patient is shown, whatever names it.
 */
export const SPECIMENS: Field = parts(
  'specimens',
  SPECIMEN.fields('m'),
  `from (
      ${idsIn('o.specimen')}
      union
      select b.specimen ->> 'id'
      from observation b
      where b.organisation_id = $1
        and b.facility_id = o.facility_id
        and b.order_id = o.id
      union
      select b.specimen ->> 'id'
      from investigation_report r
      join investigation_report_result e
        on e.organisation_id = $1
        and e.facility_id = o.facility_id
        and e.report_id = r.id
      join observation b
        on b.organisation_id = $1
        and b.facility_id = o.facility_id
        and b.id = e.observation_id
      where r.organisation_id = $1
        and r.facility_id = o.facility_id
        and r.order_id = o.id
        and b.patient_id = o.patient_id
      union
      select named.id
      from investigation_report r
      cross join lateral (${idsIn('r.specimen')}) named
      where r.organisation_id = $1
        and r.facility_id = o.facility_id
        and r.order_id = o.id
    ) named
    join specimen m
      on m.organisation_id = $1
      and m.facility_id = o.facility_id
      and m.id = named.id::uuid
      and m.patient_id = o.patient_id`,
  'm.id',
);

/** The orders that show one of the specimens. */
export async function ordersNaming(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  specimenIds: ReadonlySet<string>,
): Promise<string[]> {
  if (specimenIds.size === 0) return [];
  const { rows } = await db.query<{ id: string }>({
    name: 'specimen-orders-naming',
    text: `
      select distinct named.order_id as id
      from unnest($3::text[]) as asked (id)
      cross join lateral (
        ${ordersShowing('asked.id', '$2')}
      ) named`,
    values: [organisationId, facilityId, [...specimenIds]],
  });
  return rows.map(({ id }) => id);
}
