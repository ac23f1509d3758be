/** SQL that reads observations with their components and reference ranges. */
import { camelColumns } from './document.ts';

const VALUE_COLUMNS = [
  'value_type',
  'value_number',
  'value_comparator',
  'value_unit',
  'value_unit_system',
  'value_unit_code',
  'value_text',
  'value_concept',
  'value_structure',
  'data_absent_reason',
  'interpretation',
];

const OBSERVATION_COLUMNS = [
  'id',
  'order_id',
  'patient_id',
  'encounter_id',
  'encounter_display',
  'kind',
  'status',
  'identifier',
  'based_on',
  'part_of',
  'focus',
  'category',
  'code',
  'effective_type',
  'effective_start',
  'effective_end',
  'effective_timing',
  'issued_source>issued',
  'performer',
  ...VALUE_COLUMNS,
  'note',
  'body_site',
  'method',
  'specimen',
  'device',
  'has_member',
  'derived_from',
];

const RANGE_COLUMNS = [
  'low_number',
  'low_unit',
  'low_unit_system',
  'low_unit_code',
  'high_number',
  'high_unit',
  'high_unit_system',
  'high_unit_code',
  'type',
  'applies_to',
  'age',
  'text',
];

/** The reference ranges of `owner` (an alias, with the column that holds the observation's id) or of its part. */
function ranges(owner: string, idColumn: string, component: string): string {
  return `(
    select json_agg(row_to_json(range))
    from (
      select ${camelColumns('r', RANGE_COLUMNS)}
      from observation_reference_range r
      where r.organisation_id = $1
        and r.facility_id = ${owner}.facility_id
        and r.observation_id = ${owner}.${idColumn}
        and r.component = ${component}
      order by r.position
    ) range
  )`;
}

/**
 * Select list of an observation aliased `b`, of the organisation `$1`, as the members of an `ObservationRecord`; nulls are for the caller
 * to strip.
 */
export const OBSERVATION_DOCUMENT = `
  ${camelColumns('b', OBSERVATION_COLUMNS)},
  (
    select json_agg(row_to_json(component))
    from (
      select ${camelColumns('c', ['code', ...VALUE_COLUMNS])},
        ${ranges('c', 'observation_id', 'c.position')} as "referenceRanges"
      from observation_component c
      where c.organisation_id = $1
        and c.facility_id = b.facility_id
        and c.observation_id = b.id
      order by c.position
    ) component
  ) as "components",
  ${ranges('b', 'id', '-1')} as "referenceRanges"`;
