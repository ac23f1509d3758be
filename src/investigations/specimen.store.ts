/** SQL of the specimens that orders, results and reports name. Contract: FETCH-35. */
import { type Field, parts } from '../clinical/content/document.ts';
import { ordersShowing } from '../clinical/fetch/resource-owner.store.ts';
import { SPECIMEN } from '../clinical/resources/specimen.fhir.ts';
import { rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { partsOfOrder } from './parts-of-order.ts';

/** SQL of the ids in a list of pointers, as text. */
const idsIn = (list: string) => `select pointer ->> 'id' as id from jsonb_array_elements(${list}) pointer`;

/**
 * The specimens that an order aliased `o` names, its results that were selected as `kept`, and its reports. Nothing of
 * another patient is shown, whatever names it.
 */
export const SPECIMENS: Field = parts(
  'specimens',
  SPECIMEN.fields('m'),
  `from (
      ${idsIn('o.specimen')}
      union
      select unnest(kept.specimen_ids)
      union
      select named.id
      from ${partsOfOrder('investigation_report', 'r', 'r.specimen')} r
      cross join lateral (${idsIn('r.specimen')}) named
    ) named
    cross join ${rowByKey('specimen', 'm', { facility_id: 'o.facility_id', id: 'named.id::uuid' })} m
    where m.patient_id = o.patient_id`,
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
