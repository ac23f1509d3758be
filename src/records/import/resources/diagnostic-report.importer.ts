/** DiagnosticReport into reports and their documents (https://hl7.org/fhir/R4/diagnosticreport.html). */

import { codeableConcept, identifier, list, optional } from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { groupRecords, noteTouched } from '../group/group-records.ts';
import {
  ACTORS,
  concepts,
  effectiveTime,
  encounterColumns,
  firstTarget,
  instant,
  pointers,
} from '../map/clinical-values.ts';
import type { MapContext, ResourceImporter } from '../map/resource-importer.ts';
import { facilityLookup } from '../resolve/clinical-lookup.ts';
import type { RecordTable } from '../write/record-table.ts';
import { type RecordRow, writeRecords } from '../write/write-records.ts';
import { reportDiscipline } from './discipline.ts';

const STATUSES = [
  'registered',
  'partial',
  'preliminary',
  'final',
  'amended',
  'corrected',
  'appended',
  'cancelled',
  'entered-in-error',
  'unknown',
] as const;

/** Bytes of one document at most, and documents of one report. */
export const DOCUMENT_BYTES = 10 * 1024 * 1024;
export const DOCUMENTS = 16;
/** Media types of documents that are kept. */
const DOCUMENT_TYPES = /^(application\/pdf|text\/[a-z0-9.+-]+)\s*(;.*)?$/i;

const TABLE: RecordTable = {
  name: 'investigation_report',
  reach: 'facility',
  columns: [
    ['patient_id', 'uuid'],
    ['encounter_id', 'uuid'],
    ['encounter_display', 'text'],
    ['discipline', 'text'],
    ['status', 'text'],
    ['identifier', 'jsonb'],
    ['based_on', 'jsonb'],
    ['based_on_id', 'uuid'],
    ['category', 'jsonb'],
    ['code', 'jsonb'],
    ['effective_type', 'text'],
    ['effective_start', 'text'],
    ['effective_end', 'text'],
    ['effective_at', 'timestamptz'],
    ['issued_source', 'text'],
    ['issued_at', 'timestamptz'],
    ['performer', 'jsonb'],
    ['results_interpreter', 'jsonb'],
    ['specimen', 'jsonb'],
    ['imaging_study', 'jsonb'],
    ['imaging_study_ids', 'uuid[]'],
    ['conclusion', 'text'],
    ['conclusion_code', 'jsonb'],
  ],
  children: [
    {
      name: 'investigation_report_result',
      parent: 'report_id',
      columns: [
        ['position', 'integer'],
        ['observation_id', 'uuid'],
        ['display', 'text'],
      ],
    },
    {
      name: 'investigation_document',
      parent: 'report_id',
      columns: [
        ['position', 'integer'],
        ['media_type', 'text'],
        ['language', 'text'],
        ['title', 'text'],
        ['created_source', 'text'],
        ['url', 'text'],
        ['size_bytes', 'integer'],
        ['sha1', 'text'],
        ['content', 'bytea'],
      ],
    },
  ],
};

export const diagnosticReportImporter: ResourceImporter<RecordRow> = {
  type: 'DiagnosticReport',
  order: 90,
  lookup: facilityLookup('investigation_report'),
  map: (resource, context) => ({
    id: context.id,
    values: reportColumns(resource, context),
    children: {
      investigation_report_result: context
        .references(resource, 'result', ['Observation'])
        .map(({ target, display }, position) => ({ position, observation_id: target?.id, display })),
      investigation_document: documents(resource, context),
    },
  }),
  async write(rows, context) {
    const result = await writeRecords(context, { table: TABLE, rows });
    noteTouched(context, 'reports', rows, result);
    return result;
  },
  tables: [TABLE],
  finish: groupRecords,
};

function reportColumns(resource: ElementReader, context: MapContext): Record<string, unknown> {
  const { timeZone } = context.scope;
  const basedOn = context.references(resource, 'basedOn', ['ServiceRequest']);
  const studies = context.references(resource, 'imagingStudy', ['ImagingStudy']);
  const category = concepts(resource.children('category'));
  const issued = resource.dateTime('issued', 'time');
  return {
    patient_id: context.requiredReference(resource, 'subject', ['Patient']).id,
    ...encounterColumns(resource, context),
    discipline: reportDiscipline(category, {
      hasStudy: resource.has('imagingStudy'),
      hasResults: resource.has('result'),
    }),
    status: resource.required('status', resource.code('status', STATUSES)),
    identifier: list(resource.children('identifier').map(identifier)),
    based_on: pointers(basedOn),
    based_on_id: firstTarget(basedOn),
    category,
    code: resource.required('code', optional(resource.child('code'), codeableConcept)),
    ...effectiveTime(resource, timeZone, ['DateTime', 'Period']),
    issued_source: issued?.text,
    issued_at: instant(issued, timeZone),
    performer: pointers(context.references(resource, 'performer', ACTORS)),
    results_interpreter: pointers(context.references(resource, 'resultsInterpreter', ACTORS)),
    specimen: pointers(context.references(resource, 'specimen', [])),
    imaging_study: pointers(studies),
    imaging_study_ids: studies.flatMap(({ target }) => (target === undefined ? [] : [target.id])),
    conclusion: resource.string('conclusion'),
    conclusion_code: concepts(resource.children('conclusionCode')),
  };
}

/** PDF and text are kept, within limits; a document of another type is counted as not kept. */
function documents(resource: ElementReader, context: MapContext): Record<string, unknown>[] {
  const attachments = resource.children('presentedForm');
  if (attachments.length > DOCUMENTS) resource.fail('presentedForm', `has more than ${DOCUMENTS} documents`);
  return attachments
    .flatMap((reader) => {
      const mediaType = reader.code('contentType');
      if (mediaType !== undefined && DOCUMENT_TYPES.test(mediaType)) return [document(reader, mediaType)];
      reader.ignore('language', 'data', 'url', 'size', 'hash', 'title', 'creation');
      context.notKept(reader.path);
      return [];
    })
    .map((values, position) => ({ position, ...values }));
}

function document(reader: ElementReader, mediaType: string): Record<string, unknown> {
  const data = reader.base64('data');
  const bytes = data === undefined ? undefined : Buffer.from(data, 'base64');
  if (bytes !== undefined && bytes.length > DOCUMENT_BYTES)
    reader.fail('data', `is larger than ${DOCUMENT_BYTES / 1024 / 1024} MiB`);
  return {
    media_type: mediaType,
    language: reader.code('language'),
    title: reader.string('title'),
    created_source: reader.dateTime('creation')?.text,
    url: reader.uri('url'),
    size_bytes: reader.integer('size', 0),
    sha1: reader.base64('hash'),
    content: bytes === undefined ? undefined : `\\x${bytes.toString('hex')}`,
  };
}
