/** SQL of Observations as they are kept: the texts of an order or a vital set come as one value (docs/adr/0148). */
import { readRow } from '../content/document.ts';
import { OBSERVATION, type ObservationRecord } from '../resources/observation.fhir.ts';
import { type KeptObservation, openObservation } from './fill-observation.fhir.ts';
import {
  columnsSql,
  countsSql,
  type FreshText,
  type InPlaceOfText,
  type KeptTable,
} from './kept-texts.store.ts';
import { keptObservation, OBSERVATION_MAPPING } from './observation-text.fhir.ts';

/** Observations of an order or a vital set. */
export interface ObservationList {
  /** SQL of the rows: `columns`, of an observation aliased `b`, and what `order` names of it. */
  rows: (columns: string) => string;
  /** Of rows aliased `member`. */
  order: string;
}

const FIELDS = OBSERVATION.fields('b');

/** Observations as they are kept, aliased `b`. */
export const OBSERVATION_TEXTS: KeptTable = {
  name: 'observation',
  alias: 'b',
  reach: 'facility',
  mapping: OBSERVATION_MAPPING,
  fields: FIELDS,
  render: (columns, organisationId) =>
    keptObservation(readRow(FIELDS, JSON.parse(columns)) as ObservationRecord, organisationId),
};

/** Between the texts of a list, and between the parts of each: JSON text has neither. */
const SEPARATOR = '\x1e';
const FIELD = '\x1f';

/** SQL of one row: `texts`, which {@link readObservations} reads, and the `specimen_ids` that the observations name. */
export function observationsSql({ rows, order }: ObservationList, otherwise: InPlaceOfText): string {
  const columns = otherwise === 'columns' ? columnsSql(OBSERVATION_TEXTS) : `''`;
  const text = `b.id || chr(31) || coalesce(b.order_id::text, '') || chr(31)
            || case when ${countsSql(OBSERVATION_TEXTS)} then b.rendered
              else b.version || chr(31) || ${columns} end`;
  return `select string_agg(member.text, chr(30) order by ${order}) as texts,
          array_agg(distinct member.specimen_id) filter (where member.specimen_id is not null) as specimen_ids
        from (
          ${rows(`${text} as text, b.specimen ->> 'id' as specimen_id`)}
        ) member`;
}

/**
 * What was selected. `fresh` are texts that were rendered just now, to be kept. Undefined where nothing stands in place of
 * a text that does not count.
 */
export function readObservations(
  selected: string | null,
  owner: { organisationId: string; facilityId: string },
): { observations: KeptObservation[]; fresh: FreshText[] } | undefined {
  const fresh: FreshText[] = [];
  const observations: KeptObservation[] = [];
  for (const one of selected?.split(SEPARATOR) ?? []) {
    const [id = '', orderId = '', kept = '', columns] = one.split(FIELD);
    if (columns === '') return undefined;
    const text = columns === undefined ? kept : OBSERVATION_TEXTS.render(columns, owner.organisationId);
    if (columns !== undefined) fresh.push({ facilityId: owner.facilityId, id, version: Number(kept), text });
    observations.push(openObservation(id, orderId, text));
  }
  return { observations, fresh };
}
