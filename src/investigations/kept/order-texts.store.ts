/**
 * SQL that reads the text that an order is kept as. Where none counts, the order is read with its parts, and its text is
 * kept (docs/adr/0153). Contract: ACC-3, FETCH-22.
 */
import type { Loaded } from '../../clinical/fetch/record-loader.ts';
import { countsSql, type FreshText, keepTexts } from '../../clinical/kept/kept-texts.store.ts';
import type { EarlyAnswer } from '../../platform/db/batch.ts';
import { askedRows, rowByKey } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import {
  createInvestigationLoader,
  type InvestigationKey,
  type InvestigationLoader,
} from '../investigation.store.ts';
import { ORDER_MAPPING, orderText } from './order-text.fhir.ts';

/** Where the text of an order is kept. */
export const ORDER_TABLE = {
  name: 'investigation_order',
  alias: 'o',
  reach: 'facility',
  mapping: ORDER_MAPPING,
} as const;

/** Characters of a text that is kept. Larger orders are few, and most of such a text would be documents. */
const KEPT_CHARACTERS = 256 * 1024;

const SELECTED = 'o.patient_id, o.version, o.rendered, o.rendered_version, o.rendered_mapping';

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
 * the scope. 422 when it is too large for one answer. `load` is for an order of which no text counts.
 */
export function createOrderTextLoader(
  db: Queryable,
  load: InvestigationLoader = createInvestigationLoader(db),
): (key: InvestigationKey) => Promise<Loaded<string> | undefined> {
  const render = createOrderRenderer(load);
  const loadKept = createOrganisationBatcher<InvestigationKey, TextRow | undefined>({
    load: (organisationId, keys, answer) => selectKept(db, organisationId, keys, answer),
    maxKeys: 32,
    maxInFlight: 2,
  });
  return async (key) => {
    const row = await loadKept(key);
    if (row === undefined) return undefined;
    const { patient_id: patientId, refused_purposes: refusedPurposes, version, text } = row;
    if (text !== null) return { patientId, refusedPurposes, version, record: text };
    const rendered = await render(key);
    if (rendered?.fresh.text != null)
      await keepTexts(db, ORDER_TABLE, key.scope.organisationId, [rendered.fresh]);
    return rendered?.loaded;
  };
}

interface RenderedOrder {
  loaded: Loaded<string>;
  /** What is kept of it: nothing of a large one, which also may lack the contents of its documents. */
  fresh: FreshText;
}

/** Makes the text of an order from its columns and its parts, as they are now. Answers and throws as the loader does. */
export function createOrderRenderer(
  load: InvestigationLoader,
): (key: InvestigationKey) => Promise<RenderedOrder | undefined> {
  return async (key) => {
    const loaded = await load(key);
    if (loaded === undefined) return undefined;
    const { organisationId, facilityId } = key.scope;
    const { version, isLesser = false } = loaded;
    const text = orderText(loaded.record, organisationId);
    const keptText = text.length <= KEPT_CHARACTERS && !isLesser ? text : null;
    return {
      loaded: { ...loaded, record: text },
      fresh: { facilityId, id: key.id, version, text: keptText },
    };
  };
}

async function selectKept(
  db: Queryable,
  organisationId: string,
  keys: readonly InvestigationKey[],
  answer: EarlyAnswer<TextRow>,
): Promise<undefined> {
  await db.query<TextRow>({
    name: 'order-texts',
    text: `
      select asked.place::int as place, o.patient_id, p.refused_purposes, o.version,
        case when ${countsSql(ORDER_TABLE)} then o.rendered end as text
      from ${askedRows({ facility_id: 'uuid', id: 'uuid', discipline: 'text' })}
      cross join ${rowByKey('investigation_order', 'o', { facility_id: 'asked.facility_id', id: 'asked.id', discipline: 'asked.discipline' }, SELECTED)} o
      cross join ${rowByKey('patient', 'p', { id: 'o.patient_id' }, 'p.refused_purposes')} p`,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ id }) => id),
      keys.map(({ discipline }) => discipline),
    ],
    // The texts of a statement are some megabytes.
    onRow: (row) => answer(row.place - 1, row),
  });
}
