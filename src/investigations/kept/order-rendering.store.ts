/**
 * SQL of many orders that are rendered: those that changed, for the worker, and all, for a check (docs/adr/0153).
 * Contract: CMD-22.
 */
import { patientOfTooLarge } from '../../clinical/fetch/record-loader.ts';
import type { CheckedText, CheckedTexts } from '../../clinical/kept/check-texts.ts';
import { countsSql, type FreshText, keepTexts } from '../../clinical/kept/kept-texts.store.ts';
import type { Discipline } from '../../clinical/resources/discipline.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createInvestigationLoader } from '../investigation.store.ts';
import { ORDER_MAPPING } from './order-text.fhir.ts';
import { createOrderRenderer, ORDER_TABLE } from './order-texts.store.ts';

/** Orders whose texts are made together. */
const RENDERED_TOGETHER = 20;

/** SQL that is true for an order `o` that is fetched. */
const IS_FETCHED = "o.discipline <> 'other'";

/**
 * Renders the orders of an organisation that changed longest ago since they had a text; true when some may be left. An order
 * counts as looked at before: who ends meanwhile leaves it to its next read, and one that fails keeps no other waiting.
 */
export async function renderChangedOrders(db: Queryable, organisationId: string): Promise<boolean> {
  const { rows } = await db.query<OrderPlace>({
    name: 'orders-to-render',
    text: `
      with due as (
        select o.facility_id, o.id
        from investigation_order o
        where o.organisation_id = $1
          and o.rendered_version is distinct from o.version
          and ${IS_FETCHED}
        order by o.updated_at
        limit ${RENDERED_TOGETHER}
        for no key update skip locked
      )
      update investigation_order o
      set rendered = null, rendered_version = o.version, rendered_mapping = ${ORDER_MAPPING}
      from due
      where o.organisation_id = $1
        and o.facility_id = any(array(select facility_id from due))
        and o.id = any(array(select id from due))
        and o.facility_id = due.facility_id
        and o.id = due.id
      returning o.facility_id as "facilityId", o.id, o.version, o.discipline`,
    values: [organisationId],
  });
  const render = createPlaceRenderer(db, organisationId);
  const fresh: FreshText[] = [];
  try {
    for (const place of rows) {
      const rendered = await render(place);
      if (rendered !== undefined) fresh.push(rendered);
    }
  } finally {
    await keepTexts(db, ORDER_TABLE, organisationId, fresh);
  }
  return rows.length === RENDERED_TOGETHER;
}

interface OrderPlace {
  facilityId: string;
  id: string;
  version: number;
  discipline: Discipline;
}

/**
 * To be called for one after the other: a large order has much in memory until it is known to be too large to be kept.
 * Undefined: the order is gone, or of another discipline now.
 */
function createPlaceRenderer(
  db: Queryable,
  organisationId: string,
): (place: OrderPlace) => Promise<FreshText | undefined> {
  const render = createOrderRenderer(createInvestigationLoader(db));
  return async ({ facilityId, id, version, discipline }) => {
    const scope = { organisationId, facilityId, timeZone: 'UTC' };
    try {
      return (await render({ scope, id, discipline }))?.fresh;
    } catch (error) {
      if (patientOfTooLarge(error) === undefined) throw error;
      return { facilityId, id, version, text: null };
    }
  };
}

/** The texts of orders, for a check (`interchange rendered verify`). */
export const ORDER_TEXTS: CheckedTexts = {
  ...ORDER_TABLE,
  limit: RENDERED_TOGETHER,
  async checkedAfter(db, organisationId, { after, limit }) {
    const { rows } = await db.query<OrderPlace & { text: string | null }>({
      name: 'order-texts-after',
      text: `
        select o.facility_id as "facilityId", o.id, o.version, o.discipline,
          case when ${countsSql(ORDER_TABLE)} then o.rendered end as text
        from investigation_order o
        where o.organisation_id = $1
          and (o.facility_id, o.id) > ($2, $3)
          and ${IS_FETCHED}
        order by o.facility_id, o.id
        limit $4`,
      values: [organisationId, after.facilityId, after.id, limit],
    });
    const render = createPlaceRenderer(db, organisationId);
    const checked: CheckedText[] = [];
    for (const row of rows) {
      const rendered = await render(row);
      // One that changed since it was selected is left to the next check.
      const right = rendered?.version === row.version ? rendered.text : row.text;
      checked.push({ ...row, right });
    }
    return checked;
  },
};
