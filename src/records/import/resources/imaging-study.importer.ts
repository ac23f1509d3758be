/** ImagingStudy into studies, series and instances (https://hl7.org/fhir/R4/imagingstudy.html). */

import {
  codeableConcept,
  coding,
  compact,
  identifier,
  list,
  optional,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { groupRecords, noteTouched } from '../group/group-records.ts';
import {
  ACTORS,
  concepts,
  encounterColumns,
  firstTarget,
  instant,
  notes,
  pointer,
  pointers,
} from '../map/clinical-values.ts';
import type { MapContext, ResourceImporter } from '../map/resource-importer.ts';
import { facilityLookup } from '../resolve/clinical-lookup.ts';
import type { RecordTable } from '../write/record-table.ts';
import { type RecordRow, writeRecords } from '../write/write-records.ts';

const STATUSES = ['registered', 'available', 'cancelled', 'entered-in-error', 'unknown'] as const;

const TABLE: RecordTable = {
  name: 'imaging_study',
  reach: 'facility',
  columns: [
    ['patient_id', 'uuid'],
    ['encounter_id', 'uuid'],
    ['encounter_display', 'text'],
    ['status', 'text'],
    ['identifier', 'jsonb'],
    ['based_on', 'jsonb'],
    ['based_on_id', 'uuid'],
    ['modality', 'jsonb'],
    ['started_source', 'text'],
    ['started_at', 'timestamptz'],
    ['referrer', 'jsonb'],
    ['interpreter', 'jsonb'],
    ['procedure_reference', 'jsonb'],
    ['procedure_code', 'jsonb'],
    ['location', 'jsonb'],
    ['reason_code', 'jsonb'],
    ['reason_reference', 'jsonb'],
    ['note', 'jsonb'],
    ['description', 'text'],
    ['number_of_series', 'integer'],
    ['number_of_instances', 'integer'],
  ],
  // Instances hang on series: they are written after them, and removed before them by the cascade.
  children: [
    {
      name: 'imaging_series',
      parent: 'study_id',
      columns: [
        ['position', 'integer'],
        ['uid', 'text'],
        ['number', 'integer'],
        ['modality', 'jsonb'],
        ['description', 'text'],
        ['number_of_instances', 'integer'],
        ['body_site', 'jsonb'],
        ['laterality', 'jsonb'],
        ['specimen', 'jsonb'],
        ['started_source', 'text'],
        ['performer', 'jsonb'],
      ],
    },
    {
      name: 'imaging_instance',
      parent: 'study_id',
      columns: [
        ['series_position', 'integer'],
        ['position', 'integer'],
        ['uid', 'text'],
        ['sop_class', 'jsonb'],
        ['number', 'integer'],
        ['title', 'text'],
      ],
    },
  ],
};

export const imagingStudyImporter: ResourceImporter<RecordRow> = {
  type: 'ImagingStudy',
  order: 70,
  lookup: facilityLookup('imaging_study'),
  map(resource, context) {
    const series = resource.children('series');
    return {
      id: context.id,
      values: studyColumns(resource, context),
      children: {
        imaging_series: series.map((reader, position) => ({ position, ...seriesColumns(reader, context) })),
        imaging_instance: series.flatMap(instances),
      },
    };
  },
  async write(rows, context) {
    const result = await writeRecords(context, { table: TABLE, rows });
    noteTouched(context, 'studies', rows, result);
    return result;
  },
  tables: [TABLE],
  finish: groupRecords,
};

function studyColumns(resource: ElementReader, context: MapContext): Record<string, unknown> {
  const { timeZone } = context.scope;
  const basedOn = context.references(resource, 'basedOn', ['ServiceRequest']);
  const started = resource.dateTime('started');
  return {
    patient_id: context.requiredReference(resource, 'subject', ['Patient']).id,
    ...encounterColumns(resource, context),
    status: resource.required('status', resource.code('status', STATUSES)),
    identifier: list(resource.children('identifier').map(identifier)),
    based_on: pointers(basedOn),
    based_on_id: firstTarget(basedOn),
    modality: list(resource.children('modality').map(coding)),
    started_source: started?.text,
    started_at: instant(started, timeZone),
    referrer: pointer(context.reference(resource, 'referrer', ACTORS)),
    interpreter: pointers(context.references(resource, 'interpreter', ACTORS)),
    procedure_reference: pointer(context.reference(resource, 'procedureReference', [])),
    procedure_code: concepts(resource.children('procedureCode')),
    location: pointer(context.reference(resource, 'location', ['Location'])),
    reason_code: concepts(resource.children('reasonCode')),
    reason_reference: pointers(
      context.references(resource, 'reasonReference', ['Observation', 'DiagnosticReport']),
    ),
    note: notes(resource, context),
    description: resource.string('description'),
    number_of_series: resource.integer('numberOfSeries', 0),
    number_of_instances: resource.integer('numberOfInstances', 0),
  };
}

function seriesColumns(reader: ElementReader, context: MapContext): Record<string, unknown> {
  return {
    uid: reader.required('uid', reader.string('uid')),
    number: reader.integer('number', 0),
    modality: reader.required('modality', optional(reader.child('modality'), coding)),
    description: reader.string('description'),
    number_of_instances: reader.integer('numberOfInstances', 0),
    body_site: optional(reader.child('bodySite'), coding),
    laterality: optional(reader.child('laterality'), coding),
    specimen: pointers(context.references(reader, 'specimen', [])),
    started_source: reader.dateTime('started')?.text,
    performer: list(reader.children('performer').map((performer) => performerOf(performer, context))),
  };
}

/** `actor` is 1..1: a performer of whom nothing is left is left out. */
function performerOf(reader: ElementReader, context: MapContext) {
  const actor = pointer(context.reference(reader, 'actor', ACTORS));
  const role = optional(reader.child('function'), codeableConcept);
  return actor === undefined
    ? undefined
    : compact<{ function: unknown; actor: unknown }>({ function: role, actor });
}

function instances(series: ElementReader, seriesPosition: number): Record<string, unknown>[] {
  return series.children('instance').map((reader, position) => ({
    series_position: seriesPosition,
    position,
    uid: reader.required('uid', reader.string('uid')),
    sop_class: reader.required('sopClass', optional(reader.child('sopClass'), coding)),
    number: reader.integer('number', 0),
    title: reader.string('title'),
  }));
}
