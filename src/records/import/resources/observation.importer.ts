/** Observation into laboratory results and vital signs (https://hl7.org/fhir/R4/observation.html). */

import { hasVitalSignCode, lacksRequiredValue } from '../../../clinical/observations/vital-sign.fhir.ts';
import type { CodeableConcept } from '../../../fhir/coded.ts';
import { codeableConcept, identifier, list, optional } from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { OBSERVATION_CATEGORY } from '../../../terminology/lookup/code-systems.ts';
import { groupRecords, noteTouched } from '../group/group-records.ts';
import {
  ACTORS,
  boundColumns,
  concepts,
  effectiveTime,
  encounterColumns,
  firstTarget,
  instant,
  notes,
  pointer,
  pointers,
  quantity,
  range,
  VALUE_COLUMNS,
  valueColumns,
} from '../map/clinical-values.ts';
import type { MapContext, ResourceImporter } from '../map/resource-importer.ts';
import { facilityLookup } from '../resolve/clinical-lookup.ts';
import type { RecordTable } from '../write/record-table.ts';
import { type RecordRow, writeRecords } from '../write/write-records.ts';

const STATUSES = [
  'registered',
  'preliminary',
  'final',
  'amended',
  'corrected',
  'cancelled',
  'entered-in-error',
  'unknown',
] as const;

const TABLE: RecordTable = {
  name: 'observation',
  reach: 'facility',
  columns: [
    ['patient_id', 'uuid'],
    ['encounter_id', 'uuid'],
    ['encounter_display', 'text'],
    ['kind', 'text'],
    ['vital_sign', 'boolean'],
    ['status', 'text'],
    ['identifier', 'jsonb'],
    ['based_on', 'jsonb'],
    ['based_on_id', 'uuid'],
    ['part_of', 'jsonb'],
    ['focus', 'jsonb'],
    ['category', 'jsonb'],
    ['code', 'jsonb'],
    ['effective_type', 'text'],
    ['effective_start', 'text'],
    ['effective_end', 'text'],
    ['effective_timing', 'jsonb'],
    ['effective_at', 'timestamptz'],
    ['issued_source', 'text'],
    ['issued_at', 'timestamptz'],
    ['performer', 'jsonb'],
    ...VALUE_COLUMNS,
    ['data_absent_reason', 'jsonb'],
    ['interpretation', 'jsonb'],
    ['note', 'jsonb'],
    ['body_site', 'jsonb'],
    ['method', 'jsonb'],
    ['specimen', 'jsonb'],
    ['device', 'jsonb'],
    ['has_member', 'jsonb'],
    ['has_member_ids', 'uuid[]'],
    ['derived_from', 'jsonb'],
  ],
  children: [
    {
      name: 'observation_component',
      parent: 'observation_id',
      columns: [
        ['position', 'integer'],
        ['code', 'jsonb'],
        ...VALUE_COLUMNS,
        ['data_absent_reason', 'jsonb'],
        ['interpretation', 'jsonb'],
      ],
    },
    {
      name: 'observation_reference_range',
      parent: 'observation_id',
      columns: [
        ['component', 'integer'],
        ['position', 'integer'],
        ['low_number', 'numeric'],
        ['low_unit', 'text'],
        ['low_unit_system', 'text'],
        ['low_unit_code', 'text'],
        ['high_number', 'numeric'],
        ['high_unit', 'text'],
        ['high_unit_system', 'text'],
        ['high_unit_code', 'text'],
        ['type', 'jsonb'],
        ['applies_to', 'jsonb'],
        ['age', 'jsonb'],
        ['text', 'text'],
      ],
    },
  ],
};

export const observationImporter: ResourceImporter<RecordRow> = {
  type: 'Observation',
  order: 80,
  lookup: facilityLookup('observation'),
  map(resource, context) {
    // The narrative is made from the same data; it is not kept.
    const components = resource.children('component').map(component);
    return {
      id: context.id,
      values: observationColumns(resource, context),
      children: {
        observation_component: components.map(({ values }, position) => ({ position, ...values })),
        observation_reference_range: [
          ...ranges(resource, -1),
          ...components.flatMap(({ reader }, position) => ranges(reader, position)),
        ],
      },
    };
  },
  async write(rows, context) {
    const result = await writeRecords(context, { table: TABLE, rows });
    noteTouched(context, 'observations', rows, result);
    return result;
  },
  tables: [TABLE],
  finish: groupRecords,
};

function observationColumns(resource: ElementReader, context: MapContext): Record<string, unknown> {
  const { timeZone } = context.scope;
  const basedOn = context.references(resource, 'basedOn', ['ServiceRequest']);
  const members = context.references(resource, 'hasMember', ['Observation']);
  const category = concepts(resource.children('category'));
  const code = resource.required('code', optional(resource.child('code'), codeableConcept));
  const issued = resource.dateTime('issued', 'time');
  return {
    patient_id: context.requiredReference(resource, 'subject', ['Patient']).id,
    ...encounterColumns(resource, context),
    kind: kindOf(category, code, resource),
    vital_sign:
      (hasCategory(category, 'vital-signs') || hasVitalSignCode(code)) &&
      !lacksRequiredValue(code, optional(resource.child('valueQuantity'), quantity)),
    status: resource.required('status', resource.code('status', STATUSES)),
    identifier: list(resource.children('identifier').map(identifier)),
    based_on: pointers(basedOn),
    based_on_id: firstTarget(basedOn),
    part_of: pointers(context.references(resource, 'partOf', ['ImagingStudy'])),
    focus: pointers(
      context.references(resource, 'focus', [
        'Patient',
        'Observation',
        'Encounter',
        'Practitioner',
        'Location',
      ]),
    ),
    category,
    code,
    ...effectiveTime(resource, timeZone, ['DateTime', 'Period', 'Timing', 'Instant']),
    issued_source: issued?.text,
    issued_at: instant(issued, timeZone),
    performer: pointers(context.references(resource, 'performer', ACTORS)),
    ...valueColumns(resource),
    data_absent_reason: optional(resource.child('dataAbsentReason'), codeableConcept),
    interpretation: concepts(resource.children('interpretation')),
    note: notes(resource, context),
    body_site: optional(resource.child('bodySite'), codeableConcept),
    method: optional(resource.child('method'), codeableConcept),
    specimen: pointer(context.reference(resource, 'specimen', [])),
    device: pointer(context.reference(resource, 'device', [])),
    has_member: pointers(members),
    has_member_ids: members.flatMap(({ target }) => (target === undefined ? [] : [target.id])),
    derived_from: pointers(context.references(resource, 'derivedFrom', ['Observation', 'ImagingStudy'])),
  };
}

/**
 * What it is, by its category. Without one: a vital sign by its LOINC code, else a laboratory result when it
 * carries what laboratories give (a specimen, a reference range, an interpretation).
 */
function kindOf(
  category: readonly CodeableConcept[] | undefined,
  code: CodeableConcept,
  resource: ElementReader,
): string {
  if (hasCategory(category, 'vital-signs')) return 'vital-sign';
  if (hasCategory(category, 'laboratory')) return 'laboratory';
  if (hasCategory(category, 'imaging')) return 'imaging';
  if (category !== undefined) return 'other';
  if (hasVitalSignCode(code)) return 'vital-sign';
  const reported =
    resource.has('specimen') || resource.has('referenceRange') || resource.has('interpretation');
  return reported ? 'laboratory' : 'other';
}

function hasCategory(category: readonly CodeableConcept[] | undefined, name: string): boolean {
  const codings = (category ?? []).flatMap(({ coding }) => coding ?? []);
  return codings.some(({ system, code }) => system === OBSERVATION_CATEGORY && code === name);
}

function component(reader: ElementReader): { reader: ElementReader; values: Record<string, unknown> } {
  return {
    reader,
    values: {
      code: reader.required('code', optional(reader.child('code'), codeableConcept)),
      ...valueColumns(reader),
      data_absent_reason: optional(reader.child('dataAbsentReason'), codeableConcept),
      interpretation: concepts(reader.children('interpretation')),
    },
  };
}

function ranges(owner: ElementReader, componentPosition: number): Record<string, unknown>[] {
  return owner.children('referenceRange').map((reader, position) => {
    // R4 invariant obs-3.
    if (!reader.has('low') && !reader.has('high') && !reader.has('text'))
      reader.fail('', 'has neither low nor high nor text');
    return {
      component: componentPosition,
      position,
      ...boundColumns(reader, 'low'),
      ...boundColumns(reader, 'high'),
      type: optional(reader.child('type'), codeableConcept),
      applies_to: concepts(reader.children('appliesTo')),
      age: optional(reader.child('age'), range),
      text: reader.string('text'),
    };
  });
}
