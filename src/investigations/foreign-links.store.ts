/**
 * References of clinical records to those of another patient: SQL that finds them among stored records, and the same for
 * records that are not stored yet. Contract: FETCH-25, IN-20.
 */
import type { Children, Values } from '../clinical/description/element.ts';
import type { RecordPointer } from '../clinical/description/pointer.ts';
import { rowById } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

/** Tables of the kinds of records that are looked at. */
const TABLES = {
  orders: 'investigation_order',
  reports: 'investigation_report',
  studies: 'imaging_study',
  observations: 'observation',
  encounters: 'encounter',
  specimens: 'specimen',
} as const;
type Kind = keyof typeof TABLES;
/** The ids of each kind are one parameter of the SQL, in this order, after the organisation and the facility. */
const KINDS = Object.keys(TABLES) as Kind[];

/** Records (by id) in which this element leads to another patient. */
export interface ForeignLink {
  /** `DiagnosticReport`. */
  type: string;
  /** `result`. */
  element: string;
  ids: string[];
}

interface Link {
  /** `DiagnosticReport.result`. */
  element: string;
  from: Kind;
  /** Of the target. */
  to: Kind;
  /** SQL that gives `target`, the id of what the record aliased `source` refers to. */
  targets: string;
  /** The same ids, of a record that is not stored yet; what leads nowhere is undefined. */
  targetsOf(record: LinkingRecord): readonly unknown[];
}

/** A record as it will be stored. */
export interface LinkingRecord {
  id: string;
  values: Values;
  children: Children;
}

/** The kinds of the types that columns of pointers lead to. */
const POINTED_AT = {
  ServiceRequest: 'orders',
  DiagnosticReport: 'reports',
  ImagingStudy: 'studies',
  Observation: 'observations',
  Specimen: 'specimens',
} as const satisfies Record<string, Kind>;

/** Of a column of pointers, `{ type, id, display }`. */
function pointerLink(element: string, from: Kind, column: string, type: keyof typeof POINTED_AT): Link {
  const pointersOf = ({ values }: LinkingRecord) => (values[column] ?? []) as readonly RecordPointer[];
  return {
    element,
    from,
    to: POINTED_AT[type],
    // Most records have no such element: the first condition is looked at before the list is taken apart.
    targets: `select (pointer ->> 'id')::uuid as target
        from jsonb_array_elements(source.${column}) pointer
        where source.${column} is not null
          and pointer ->> 'type' = '${type}'`,
    targetsOf: (record) => pointersOf(record).flatMap((one) => (one.type === type ? one.id : undefined)),
  };
}

function encounterLink(element: string, from: Kind, column = 'encounter_id'): Link {
  return {
    element,
    from,
    to: 'encounters',
    targets: `select source.${column} as target`,
    targetsOf: ({ values }) => [values[column]],
  };
}

/**
 * `Observation.focus` is none of them: FHIR has it for what an observation is about when that is not its subject,
 * such as a child that is not born yet.
 */
const LINKS: readonly Link[] = [
  encounterLink('Encounter.partOf', 'encounters', 'part_of_id'),
  encounterLink('DiagnosticReport.encounter', 'reports'),
  encounterLink('ImagingStudy.encounter', 'studies'),
  encounterLink('Observation.encounter', 'observations'),
  encounterLink('ServiceRequest.encounter', 'orders'),
  {
    element: 'DiagnosticReport.result',
    from: 'reports',
    to: 'observations',
    targets: `select e.observation_id as target
      from investigation_report_result e
      where e.organisation_id = $1
        and e.facility_id = $2
        and e.report_id = source.id
      offset 0`,
    targetsOf: ({ children }) =>
      children.investigation_report_result?.map((result) => result.observation_id) ?? [],
  },
  pointerLink('DiagnosticReport.imagingStudy', 'reports', 'imaging_study', 'ImagingStudy'),
  pointerLink('DiagnosticReport.basedOn', 'reports', 'based_on', 'ServiceRequest'),
  pointerLink('ImagingStudy.basedOn', 'studies', 'based_on', 'ServiceRequest'),
  pointerLink('Observation.basedOn', 'observations', 'based_on', 'ServiceRequest'),
  pointerLink('Observation.hasMember', 'observations', 'has_member', 'Observation'),
  pointerLink('Observation.derivedFrom', 'observations', 'derived_from', 'Observation'),
  pointerLink('Observation.derivedFrom', 'observations', 'derived_from', 'ImagingStudy'),
  pointerLink('Observation.partOf', 'observations', 'part_of', 'ImagingStudy'),
  {
    element: 'Observation.specimen',
    from: 'observations',
    to: 'specimens',
    targets: "select (source.specimen ->> 'id')::uuid as target",
    targetsOf: ({ values }) => [(values.specimen as RecordPointer | undefined)?.id],
  },
  pointerLink('DiagnosticReport.specimen', 'reports', 'specimen', 'Specimen'),
  pointerLink('ServiceRequest.specimen', 'orders', 'specimen', 'Specimen'),
  pointerLink('Specimen.parent', 'specimens', 'parent', 'Specimen'),
  pointerLink('Specimen.request', 'specimens', 'request', 'ServiceRequest'),
  pointerLink('ServiceRequest.basedOn', 'orders', 'based_on', 'ServiceRequest'),
  pointerLink('ServiceRequest.replaces', 'orders', 'replaces', 'ServiceRequest'),
  pointerLink('ServiceRequest.reasonReference', 'orders', 'reason_reference', 'Observation'),
  pointerLink('ServiceRequest.reasonReference', 'orders', 'reason_reference', 'DiagnosticReport'),
  pointerLink('ImagingStudy.reasonReference', 'studies', 'reason_reference', 'Observation'),
  pointerLink('ImagingStudy.reasonReference', 'studies', 'reason_reference', 'DiagnosticReport'),
];

/** Each record is read once, whatever refers to others in it. */
function linksOf([from, links]: [Kind, readonly Link[]]): string {
  return `select link.path, source.id
    from unnest($${KINDS.indexOf(from) + 3}::uuid[]) as asked (id)
    cross join ${rowById(TABLES[from], 'source', 'asked.id', '*')} source
    cross join lateral (
      ${links.map(foreignTarget).join('\n      union all\n      ')}
    ) link`;
}

function foreignTarget({ element, to, targets }: Link): string {
  return `select '${element}' as path
      from (
        ${targets}
      ) link
      cross join ${rowById(TABLES[to], 'other', 'link.target', 'other.patient_id')} other
      where other.patient_id <> source.patient_id`;
}

const FOREIGN = `
  select path, array_agg(distinct id) as ids
  from (
    ${[...Map.groupBy(LINKS, ({ from }) => from)].map(linksOf).join('\n    union all\n    ')}
  ) found
  group by path
  order by path`;

/** The references of these records that lead to a record of another patient. */
export async function foreignLinks(
  db: Queryable,
  scope: FacilityScope,
  ids: Readonly<Record<Kind, ReadonlySet<string>>>,
): Promise<ForeignLink[]> {
  const { rows } = await db.query<{ path: string; ids: string[] }>({
    name: 'grouping-foreign-links',
    text: FOREIGN,
    values: [scope.organisationId, scope.facilityId, ...KINDS.map((kind) => [...ids[kind]])],
  });
  return rows.map(({ path, ids: found }) => foreignLink(path, found));
}

function foreignLink(path: string, ids: string[]): ForeignLink {
  const [type = '', element = ''] = path.split('.');
  return { type, element, ids };
}

const BY_PATH = LINKS.toSorted((a, b) => (a.element < b.element ? -1 : 1));

/**
 * The same among records that are not stored yet and have only just got their patients: what they refer to is among them,
 * or is another patient's.
 */
export function foreignLinksAmong(records: Readonly<Record<Kind, readonly LinkingRecord[]>>): ForeignLink[] {
  const patients = new Map(
    KINDS.map((kind) => [kind, new Map(records[kind].map(({ id, values }) => [id, values.patient_id]))]),
  );
  return BY_PATH.flatMap(({ element: path, from, to, targetsOf }) => {
    const isForeign = (record: LinkingRecord) =>
      targetsOf(record).some(
        (id) => id !== undefined && patients.get(to)?.get(id as string) !== record.values.patient_id,
      );
    const ids = records[from].filter(isForeign).map(({ id }) => id);
    return ids.length === 0 ? [] : [foreignLink(path, ids)];
  });
}
