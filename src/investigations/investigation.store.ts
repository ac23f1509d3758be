/** SQL that reads orders with their results, reports and studies. */
import { parseFhirJson } from '../fhir/json.ts';
import { camelColumns } from '../observations/document.ts';
import type { Loaded, RecordKey } from '../observations/loaded.ts';
import { OBSERVATION_DOCUMENT } from '../observations/observation.store.ts';
import type { Queryable } from '../platform/db/database.ts';
import { createOrganisationBatcher } from '../tenancy/organisation-batch.ts';
import type { Discipline, InvestigationRecord } from './investigation.ts';

/** What one caller asks for. */
export interface InvestigationKey extends RecordKey {
  discipline: Discipline;
}

const ORDER_COLUMNS = [
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
  'occurrence_timing',
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
];

const REPORT_COLUMNS = [
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
];

const STUDY_COLUMNS = [
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
];

const SERIES_COLUMNS = [
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
];

const DOCUMENT_COLUMNS = [
  'media_type',
  'language',
  'title',
  'created_source>created',
  'url',
  'size_bytes',
  'sha1',
];

/** Rows of `table` aliased `alias` that belong to `owner`, as a JSON list in their order. */
function parts(table: string, alias: string, columns: string, condition: string): string {
  return `(
    select json_agg(row_to_json(part))
    from (
      select ${columns}
      from ${table} ${alias}
      where ${alias}.organisation_id = $1
        and ${alias}.facility_id = o.facility_id
        and ${condition}
      order by ${alias}.position
    ) part
  )`;
}

const RESULTS = parts(
  'investigation_report_result',
  'e',
  camelColumns('e', ['observation_id', 'display']),
  'e.report_id = r.id',
);
// encode() breaks base64 into lines; FHIR wants none.
const DOCUMENTS = parts(
  'investigation_document',
  'd',
  `${camelColumns('d', DOCUMENT_COLUMNS)}, translate(encode(d.content, 'base64'), E'\\n', '') as "content"`,
  'd.report_id = r.id',
);
const INSTANCES = parts(
  'imaging_instance',
  'i',
  camelColumns('i', ['uid', 'sop_class', 'number', 'title']),
  'i.study_id = s.id and i.series_position = t.position',
);
const SERIES = parts(
  'imaging_series',
  't',
  `${camelColumns('t', SERIES_COLUMNS)}, ${INSTANCES} as "instances"`,
  't.study_id = s.id',
);

/** An order aliased `o` with everything that belongs to it. Results are in the order in which reports list them. */
const INVESTIGATION_DOCUMENT = `json_strip_nulls(json_build_object(
  'order', (select row_to_json(part) from (select ${camelColumns('o', ORDER_COLUMNS)}) part),
  'observations', coalesce((
    select json_agg(row_to_json(part))
    from (
      select ${OBSERVATION_DOCUMENT}
      from (
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
      order by listed.place nulls last, b.effective_at, b.id
    ) part
  ), '[]'),
  'reports', coalesce((
    select json_agg(row_to_json(part))
    from (
      select ${camelColumns('r', REPORT_COLUMNS)}, ${RESULTS} as "results", ${DOCUMENTS} as "documents"
      from investigation_report r
      where r.organisation_id = $1
        and r.facility_id = o.facility_id
        and r.order_id = o.id
      order by r.issued_at, r.id
    ) part
  ), '[]'),
  'studies', coalesce((
    select json_agg(row_to_json(part))
    from (
      select ${camelColumns('s', STUDY_COLUMNS)}, ${SERIES} as "series"
      from imaging_study s
      where s.organisation_id = $1
        and s.facility_id = o.facility_id
        and s.order_id = o.id
      order by s.started_at, s.id
    ) part
  ), '[]')
))`;

const LOAD = `
  select asked.place::int as place, o.patient_id, p.refused_purposes, o.version,
    case when o.version is distinct from asked.held_version
      then ${INVESTIGATION_DOCUMENT}::text
    end as document
  from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bigint[])
    with ordinality as asked (facility_id, discipline, id, held_version, place)
  join investigation_order o
    on o.organisation_id = $1
    and o.facility_id = asked.facility_id
    and o.id = asked.id
    and o.discipline = asked.discipline
  join patient p
    on p.organisation_id = $1
    and p.id = o.patient_id`;

/** Orders in one load, and loads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

interface InvestigationRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  version: number;
  document: string | null;
}

/**
 * Loads by id; those that arrive together share a round trip. Undefined: no such order of that discipline in
 * the scope.
 */
export function createInvestigationLoader(
  db: Queryable,
): (key: InvestigationKey) => Promise<Loaded<InvestigationRecord> | undefined> {
  return createOrganisationBatcher({
    load: (organisationId, keys: readonly InvestigationKey[]) => loadInvestigations(db, organisationId, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
}

async function loadInvestigations(
  db: Queryable,
  organisationId: string,
  keys: readonly InvestigationKey[],
): Promise<(Loaded<InvestigationRecord> | undefined)[]> {
  const { rows } = await db.query<InvestigationRow>({
    name: 'investigation-load',
    text: LOAD,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ discipline }) => discipline),
      keys.map(({ id }) => id),
      keys.map(({ heldVersion }) => heldVersion),
    ],
  });
  const loaded = new Array<Loaded<InvestigationRecord> | undefined>(keys.length).fill(undefined);
  for (const row of rows) loaded[row.place - 1] = toLoaded(row);
  return loaded;
}

function toLoaded(row: InvestigationRow): Loaded<InvestigationRecord> {
  return {
    patientId: row.patient_id,
    refusedPurposes: row.refused_purposes,
    version: row.version,
    record: row.document === null ? undefined : (parseFhirJson(row.document) as InvestigationRecord),
  };
}
