/** SQL of Observations as they are kept: the texts of an order or a vital set come as one value (docs/adr/0148). */
import type { Queryable } from '../../platform/db/database.ts';
import { readRow } from '../content/document.ts';
import { OBSERVATION, type ObservationRecord } from '../resources/observation.fhir.ts';
import { checkTexts, type TextCheck } from './check-texts.ts';
import { type KeptObservation, openObservation } from './fill-observation.fhir.ts';
import { columnsSql, countsSql, type FreshText, type KeptTable } from './kept-texts.store.ts';
import { keptObservation, OBSERVATION_MAPPING } from './observation-text.fhir.ts';

/** Observations of an order or a vital set: `from` is all that follows the select list but the order. */
export interface ObservationList {
  from: string;
  order: string;
}

const FIELDS = OBSERVATION.fields('b');

/** Observations as they are kept, aliased `b`. */
export const OBSERVATION_TEXTS: KeptTable = {
  name: 'observation',
  alias: 'b',
  reach: 'facility',
  fields: FIELDS,
  render: (columns, organisationId) =>
    keptObservation(readRow(FIELDS, JSON.parse(columns)) as ObservationRecord, organisationId),
};

/** Between the texts of a list, and between the parts of each: JSON text has neither. */
const SEPARATOR = '\x1e';
const FIELD = '\x1f';

/** SQL of one text that {@link readObservations} reads; `mapping` is SQL of the version of the mapping. */
export function observationsSql({ from, order }: ObservationList, mapping: string): string {
  return `(
        select string_agg(
          b.id || chr(31) || coalesce(b.order_id::text, '') || chr(31)
            || case when ${countsSql(OBSERVATION_TEXTS, mapping)} then b.rendered
              else b.version || chr(31) || ${columnsSql(OBSERVATION_TEXTS)} end,
          chr(30) order by ${order})
        ${from}
      )`;
}

/** What was selected. `fresh` are texts that were rendered just now, to be kept. */
export function readObservations(
  selected: string | null,
  owner: { organisationId: string; facilityId: string },
): { observations: KeptObservation[]; fresh: FreshText[] } {
  const fresh: FreshText[] = [];
  const observations = (selected?.split(SEPARATOR) ?? []).map((one) => {
    const [id = '', orderId = '', kept = '', columns] = one.split(FIELD);
    if (columns === undefined) return openObservation(id, orderId, kept);
    const text = OBSERVATION_TEXTS.render(columns, owner.organisationId);
    fresh.push({ facilityId: owner.facilityId, id, version: Number(kept), text });
    return openObservation(id, orderId, text);
  });
  return { observations, fresh };
}

/** Compares the kept texts of all observations of an organisation with their columns. */
export function checkObservationTexts(
  db: Queryable,
  organisationId: string,
  { renew = false, mapping = OBSERVATION_MAPPING }: { renew?: boolean; mapping?: number } = {},
): Promise<TextCheck> {
  return checkTexts(db, OBSERVATION_TEXTS, { organisationId, mapping, renew });
}
