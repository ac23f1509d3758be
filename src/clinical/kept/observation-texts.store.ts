/** SQL of Observations as they are kept: the texts of an order or a vital set come as one value (docs/adr/0148). */
import { readRow } from '../content/document.ts';
import { OBSERVATION, type ObservationRecord } from '../resources/observation.fhir.ts';
import type { KeptTable } from './kept-texts.store.ts';
import { keptObservation, OBSERVATION_MAPPING } from './observation-text.fhir.ts';
import { type InPlaceOfText, packing, TEXT_END } from './packed-texts.store.ts';

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

export const OBSERVATIONS = packing(OBSERVATION_TEXTS, {
  id: 'b.id',
  orderId: "coalesce(b.order_id::text, '')",
});

/** SQL of one row: `packed`, the texts of {@link OBSERVATIONS}, and the `specimen_ids` that the observations name. */
export function observationsSql({ rows, order }: ObservationList, otherwise: InPlaceOfText): string {
  return `select string_agg(member.text, ${TEXT_END.sql} order by ${order}) as packed,
          array_agg(distinct member.specimen_id) filter (where member.specimen_id is not null) as specimen_ids
        from (
          ${rows(`${OBSERVATIONS.sql(otherwise)} as text, b.specimen ->> 'id' as specimen_id`)}
        ) member`;
}
