/** Which columns make an order with its results, reports and studies. */
import { columns, exactJson, type Field, parts, readRow, rowSql } from '../clinical/content/document.ts';
import { OBSERVATION_FIELDS } from '../clinical/observations/observation.store.ts';

const ORDER_FIELDS: readonly Field[] = [
  ...columns('o', [
    'id',
    'patient_id',
    'encounter_id',
    'encounter_display',
    'discipline',
    'made_up',
    'status',
    'intent',
    'priority',
    'do_not_perform',
    'identifier',
    'requisition',
    'category',
    'code',
    'order_detail',
    'based_on',
    'replaces',
    'occurrence_type',
    'occurrence_start',
    'occurrence_end',
  ]),
  ...exactJson('o', ['occurrence_timing']),
  ...columns('o', [
    'as_needed',
    'as_needed_for',
    'authored_source>authored',
    'requester',
    'performer_type',
    'performer',
    'location_code',
    'location',
    'reason_code',
    'reason_reference',
    'body_site',
    'specimen',
    'note',
    'patient_instruction',
  ]),
];

const RESULTS = parts(
  'results',
  columns('e', ['observation_id', 'display']),
  `from investigation_report_result e
      where e.organisation_id = $1
        and e.facility_id = r.facility_id
        and e.report_id = r.id`,
  'e.position',
);

const DOCUMENT_FIELDS: readonly Field[] = columns('d', [
  'media_type',
  'language',
  'title',
  'created_source>created',
  'url',
]);

/** As the source gave them, and the content; encode() breaks base64 into lines, FHIR wants none. */
const WITH_CONTENT: readonly Field[] = [
  ...columns('d', ['size_bytes', 'sha1']),
  { name: 'content', sql: `translate(encode(d.content, 'base64'), E'\\n', '')` },
];

/** The size of the content that is left out. */
const WITHOUT_CONTENT: readonly Field[] = [
  { name: 'sizeBytes', sql: 'coalesce(octet_length(d.content), d.size_bytes)' },
  ...columns('d', ['sha1']),
];

function documents({ contents }: { contents: boolean }): Field {
  return parts(
    'documents',
    [...DOCUMENT_FIELDS, ...(contents ? WITH_CONTENT : WITHOUT_CONTENT)],
    `from investigation_document d
      where d.organisation_id = $1
        and d.facility_id = r.facility_id
        and d.report_id = r.id`,
    'd.position',
  );
}

function reports(options: { contents: boolean }): Field {
  return parts(
    'reports',
    [...REPORT_FIELDS, RESULTS, documents(options)],
    `from investigation_report r
    where r.organisation_id = $1
      and r.facility_id = o.facility_id
      and r.order_id = o.id
      and r.patient_id = o.patient_id`,
    'r.issued_at, r.id',
  );
}

const REPORT_FIELDS: readonly Field[] = columns('r', [
  'id',
  'patient_id',
  'encounter_id',
  'encounter_display',
  'discipline',
  'status',
  'identifier',
  'based_on',
  'category',
  'code',
  'effective_type',
  'effective_start',
  'effective_end',
  'issued_source>issued',
  'performer',
  'results_interpreter',
  'specimen',
  'imaging_study',
  'conclusion',
  'conclusion_code',
]);

const INSTANCES = parts(
  'instances',
  columns('i', ['uid', 'sop_class', 'number', 'title']),
  `from imaging_instance i
          where i.organisation_id = $1
            and i.facility_id = t.facility_id
            and i.study_id = t.study_id
            and i.series_position = t.position`,
  'i.position',
);

const SERIES = parts(
  'series',
  [
    ...columns('t', [
      'uid',
      'number',
      'modality',
      'description',
      'number_of_instances',
      'body_site',
      'laterality',
      'specimen',
      'started_source>started',
      'performer',
    ]),
    INSTANCES,
  ],
  `from imaging_series t
      where t.organisation_id = $1
        and t.facility_id = s.facility_id
        and t.study_id = s.id`,
  't.position',
);

const STUDIES = parts(
  'studies',
  [
    ...columns('s', [
      'id',
      'patient_id',
      'encounter_id',
      'encounter_display',
      'status',
      'identifier',
      'based_on',
      'modality',
      'started_source>started',
      'referrer',
      'interpreter',
      'procedure_reference',
      'procedure_code',
      'location',
      'reason_code',
      'reason_reference',
      'note',
      'description',
      'number_of_series',
      'number_of_instances',
    ]),
    SERIES,
  ],
  `from imaging_study s
    where s.organisation_id = $1
      and s.facility_id = o.facility_id
      and s.order_id = o.id
      and s.patient_id = o.patient_id`,
  's.started_at, s.id',
);

// What the reports of the order list, in their order, and then what else belongs to it. Whatever grouping made
// of them, nothing of another patient is ever shown: the caller was allowed to see the order's patient only.
const OBSERVATIONS = parts(
  'observations',
  OBSERVATION_FIELDS,
  `from (
      select member.id, min(member.place) as place
      from (
        select e.observation_id as id, e.position as place
        from investigation_report r
        join investigation_report_result e
          on e.organisation_id = $1
          and e.facility_id = r.facility_id
          and e.report_id = r.id
        where r.organisation_id = $1
          and r.facility_id = o.facility_id
          and r.order_id = o.id
        union all
        select own.id, null
        from observation own
        where own.organisation_id = $1
          and own.facility_id = o.facility_id
          and own.order_id = o.id
      ) member
      group by member.id
    ) listed
    join observation b
      on b.organisation_id = $1
      and b.facility_id = o.facility_id
      and b.id = listed.id
      and b.patient_id = o.patient_id`,
  'listed.place nulls last, b.effective_at, b.id',
);

const ORDER: Field = {
  name: 'order',
  sql: rowSql(ORDER_FIELDS),
  read: (row: unknown[]) => readRow(ORDER_FIELDS, row),
};

/** The members of an order aliased `o` with everything that belongs to it; `contents`: of its documents. */
export function investigationFields(options: { contents: boolean }): readonly Field[] {
  return [ORDER, OBSERVATIONS, reports(options), STUDIES];
}
