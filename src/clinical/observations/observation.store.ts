/** SQL that reads observations with their components and reference ranges. */
import { columns, exactJson, type Field, numbers, parts } from '../content/document.ts';

function valueFields(alias: string): Field[] {
  return [
    ...columns(alias, ['value_type']),
    ...numbers(alias, ['value_number']),
    ...columns(alias, [
      'value_comparator',
      'value_unit',
      'value_unit_system',
      'value_unit_code',
      'value_text',
      'value_concept',
    ]),
    ...exactJson(alias, ['value_structure']),
    ...columns(alias, ['data_absent_reason', 'interpretation']),
  ];
}

const RANGE_FIELDS: readonly Field[] = [
  ...numbers('r', ['low_number']),
  ...columns('r', ['low_unit', 'low_unit_system', 'low_unit_code']),
  ...numbers('r', ['high_number']),
  ...columns('r', ['high_unit', 'high_unit_system', 'high_unit_code', 'type', 'applies_to']),
  ...exactJson('r', ['age']),
  ...columns('r', ['text']),
];

/** The reference ranges of `owner` (an alias, with the column that holds the observation's id) or of its part. */
function ranges(owner: string, idColumn: string, component: string): Field {
  return parts(
    'referenceRanges',
    RANGE_FIELDS,
    `from observation_reference_range r
    where r.organisation_id = $1
      and r.facility_id = ${owner}.facility_id
      and r.observation_id = ${owner}.${idColumn}
      and r.component = ${component}`,
    'r.position',
  );
}

const COMPONENTS = parts(
  'components',
  [...columns('c', ['code']), ...valueFields('c'), ranges('c', 'observation_id', 'c.position')],
  `from observation_component c
    where c.organisation_id = $1
      and c.facility_id = b.facility_id
      and c.observation_id = b.id`,
  'c.position',
);

/** The members of an `ObservationRecord`, of an observation aliased `b` of the organisation `$1`. */
export const OBSERVATION_FIELDS: readonly Field[] = [
  ...columns('b', [
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
  ]),
  ...exactJson('b', ['effective_timing']),
  ...columns('b', ['issued_source>issued', 'performer']),
  ...valueFields('b'),
  ...columns('b', ['note', 'body_site', 'method', 'specimen', 'device', 'has_member', 'derived_from']),
  COMPONENTS,
  ranges('b', 'id', '-1'),
];
