/**
 * SQL that reads the text that an order is kept as. Where none counts, the order is read with its parts, and its text is
 * kept (docs/adr/0153). Contract: ACC-3, FETCH-22.
 */
import type { Loaded } from '../../clinical/fetch/record-loader.ts';
import type { CheckedText, CheckedTexts } from '../../clinical/kept/check-texts.ts';
import { countsSql, type FreshText, keepTexts } from '../../clinical/kept/kept-texts.store.ts';
import type { Discipline } from '../../clinical/resources/discipline.ts';
import { rowByKey } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import { createInvestigationLoader, type InvestigationKey } from '../investigation.store.ts';
import { ORDER_MAPPING, orderText } from './order-text.fhir.ts';

/** Where the text of an order is kept. */
const TABLE = { name: 'investigation_order', alias: 'o', reach: 'facility', mapping: ORDER_MAPPING } as const;

/** Characters of a text that is kept. Larger orders are few, and most of such a text would be documents. */
const KEPT_CHARACTERS = 256 * 1024;

const SELECTED = 'o.patient_id, o.version, o.rendered, o.rendered_version, o.rendered_mapping';

/** Orders in one round trip, and round trips under way, at most. */
const MAX_KEYS = 32;
const MAX_IN_FLIGHT = 2;

interface TextRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  version: number;
  /** Null where none counts. */
  text: string | null;
}

/**
 * The text of an order; those that are asked for together share a round trip. Undefined: no such order of that discipline in
 * the scope. 422 when it is too large for one answer.
 */
export function createOrderTextLoader(
  db: Queryable,
): (key: InvestigationKey) => Promise<Loaded<string> | undefined> {
  const render = createOrderRenderer(db);
  const loadKept = createOrganisationBatcher<InvestigationKey, TextRow | undefined>({
    load: (organisationId, keys) => selectKept(db, organisationId, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
  return async (key) => {
    const row = await loadKept(key);
    if (row === undefined) return undefined;
    const { patient_id: patientId, refused_purposes: refusedPurposes, version, text } = row;
    if (text !== null) return { patientId, refusedPurposes, version, record: text };
    const rendered = await render(key);
    if (rendered?.fresh.text != null) await keepTexts(db, TABLE, key.scope.organisationId, [rendered.fresh]);
    return rendered?.loaded;
  };
}

interface RenderedOrder {
  loaded: Loaded<string>;
  /** What is kept of it: nothing of a large one. */
  fresh: FreshText;
}

/** Makes the text of an order from its columns and its parts, as they are now. Answers and throws as the loader does. */
function createOrderRenderer(db: Queryable): (key: InvestigationKey) => Promise<RenderedOrder | undefined> {
  const load = createInvestigationLoader(db);
  return async (key) => {
    const whole = await load(key);
    if (whole === undefined) return undefined;
    const { organisationId, facilityId } = key.scope;
    const { version } = whole;
    const text = orderText(whole.record, organisationId);
    const keptText = text.length <= KEPT_CHARACTERS ? text : null;
    return {
      loaded: { ...whole, record: text },
      fresh: { facilityId, id: key.id, version, text: keptText },
    };
  };
}

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
      returning o.facility_id as "facilityId", o.id, o.discipline`,
    values: [organisationId],
  });
  const render = createPlaceRenderer(db, organisationId);
  const fresh: FreshText[] = [];
  try {
    for (const place of rows) {
      const rendered = await render(place);
      if (rendered !== undefined && rendered !== 'too large') fresh.push(rendered);
    }
  } finally {
    await keepTexts(db, TABLE, organisationId, fresh);
  }
  return rows.length === RENDERED_TOGETHER;
}

interface OrderPlace {
  facilityId: string;
  id: string;
  discipline: Discipline;
}

/**
 * To be called for one after the other: a large order has much in memory until it is known to be too large. Undefined: the
 * order is gone, or of another discipline now.
 */
function createPlaceRenderer(
  db: Queryable,
  organisationId: string,
): (place: OrderPlace) => Promise<FreshText | 'too large' | undefined> {
  const render = createOrderRenderer(db);
  return async ({ facilityId, id, discipline }) => {
    const scope = { organisationId, facilityId, timeZone: 'UTC' };
    try {
      return (await render({ scope, id, discipline }))?.fresh;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'record_too_large') return 'too large';
      throw error;
    }
  };
}

async function selectKept(
  db: Queryable,
  organisationId: string,
  keys: readonly InvestigationKey[],
): Promise<(TextRow | undefined)[]> {
  const { rows } = await db.query<TextRow>({
    name: 'order-texts',
    text: `
      select asked.place::int as place, o.patient_id, p.refused_purposes, o.version,
        case when ${countsSql(TABLE)} then o.rendered end as text
      from unnest($2::uuid[], $3::uuid[], $4::text[])
        with ordinality as asked (facility_id, id, discipline, place)
      cross join ${rowByKey('investigation_order', 'o', { facility_id: 'asked.facility_id', id: 'asked.id', discipline: 'asked.discipline' }, SELECTED)} o
      cross join ${rowByKey('patient', 'p', { id: 'o.patient_id' }, 'p.refused_purposes')} p`,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ id }) => id),
      keys.map(({ discipline }) => discipline),
    ],
  });
  const found = new Array<TextRow | undefined>(keys.length).fill(undefined);
  for (const row of rows) found[row.place - 1] = row;
  return found;
}

/** The texts of orders, for a check (`interchange rendered verify`). */
export const ORDER_TEXTS: CheckedTexts = {
  ...TABLE,
  limit: RENDERED_TOGETHER,
  async checkedAfter(db, organisationId, { after, limit }) {
    const { rows } = await db.query<OrderPlace & { version: number; text: string | null }>({
      name: 'order-texts-after',
      text: `
        select o.facility_id as "facilityId", o.id, o.discipline, o.version,
          case when ${countsSql(TABLE)} then o.rendered end as text
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
    for (const { discipline, ...row } of rows)
      checked.push({ ...row, right: rightText(row, await render({ ...row, discipline })) });
    return checked;
  },
};

/** One that changed since it was selected is left to the next check. */
function rightText(
  { version, text }: Pick<CheckedText, 'version' | 'text'>,
  rendered: FreshText | 'too large' | undefined,
): string | null {
  if (rendered === 'too large') return null;
  return rendered?.version === version ? rendered.text : text;
}
