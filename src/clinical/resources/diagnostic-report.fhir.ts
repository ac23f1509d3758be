/**
 * DiagnosticReport (https://hl7.org/fhir/R4/diagnosticreport.html): a report of a laboratory or of an imaging examination.
 * Contract: HTTP-30, FETCH-14.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { V2_DIAGNOSTIC_SERVICE } from '../../terminology/lookup/code-systems.ts';
import { columns, parts } from '../content/document.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import {
  type ChildTable,
  derived,
  type Element,
  grouped,
  required,
  rowsOf,
  type Values,
} from '../description/element.ts';
import {
  categories,
  code,
  concepts,
  identifiers,
  mappedConcept,
  mappedConcepts,
  string,
} from '../description/kinds.ts';
import { effective, moment } from '../description/moments.ts';
import { basedOnOrder, referenceColumns, references, referencesTo, subject } from '../description/pointer.ts';
import type { ReadContext } from '../description/read-context.ts';
import { type Discipline, leavesRoomFor, reportDiscipline } from './discipline.ts';

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

/** Who may have made or read a report. R4 allows no patient there. */
const REPORTERS = ['Practitioner', 'Organization'] as const;

/** Bytes of one document at most, and documents of one report. */
export const DOCUMENT_BYTES = 10 * 1024 * 1024;
export const DOCUMENTS = 16;
/** Media types of documents that are kept. */
const DOCUMENT_TYPES = /^(application\/pdf|text\/[a-z0-9.+-]+)\s*(;.*)?$/i;

/** Categories of HL7 v2 table 0074. */
const CATEGORY: Readonly<Record<Discipline, CodeableConcept | undefined>> = {
  laboratory: { coding: [{ system: V2_DIAGNOSTIC_SERVICE, code: 'LAB', display: 'Laboratory' }] },
  imaging: { coding: [{ system: V2_DIAGNOSTIC_SERVICE, code: 'RAD', display: 'Radiology' }] },
  other: undefined,
};

export const DIAGNOSTIC_REPORT = describeResource('DiagnosticReport', {
  table: 'investigation_report',
  reach: 'facility',
  elements: {
    /** The order that it is under. */
    orderId: grouped('order_id'),
    subject: subject(),
    encounter: referenceColumns('Encounter', 'encounter_id', 'encounter_display'),
    discipline: derived('discipline', 'text', ({ values, reader }) =>
      reportDiscipline(values.category as CodeableConcept[] | undefined, {
        hasStudy: reader.has('imagingStudy'),
        hasResults: reader.has('result'),
      }),
    ),
    status: required(code('status', STATUSES)),
    identifier: identifiers(),
    basedOn: basedOnOrder(),
    category: categories(
      mappedConcepts,
      ({ discipline, category }: { discipline: Discipline; category?: CodeableConcept[] }) =>
        leavesRoomFor(discipline, category) ? CATEGORY[discipline] : undefined,
    ),
    code: required(mappedConcept('code')),
    'effective[x]': effective(['dateTime', 'Period']),
    issued: moment('issued', ['issued_source', 'issued_at'], 'time'),
    performer: references('performer', REPORTERS),
    resultsInterpreter: references('results_interpreter', REPORTERS),
    specimen: references('specimen', ['Specimen']),
    imagingStudy: references('imaging_study', ['ImagingStudy'], {
      all: 'imaging_study_ids',
      table: { name: 'investigation_report_study', parent: 'report_id', id: 'study_id' },
    }),
    conclusion: string('conclusion'),
    conclusionCode: concepts('conclusion_code'),
    result: results(),
    presentedForm: documents(),
  },
  notKept: {
    media: 'images are shown from the study, and key images are not kept',
  },
});

export interface ReportRecord extends RecordOf<typeof DIAGNOSTIC_REPORT> {}

/** A result that a report lists: its id here, or only what it was called. */
interface ListedResult {
  observationId?: string;
  display?: string;
}

function results(): Element<{ results?: ListedResult[] }> {
  const table: ChildTable = {
    name: 'investigation_report_result',
    parent: 'report_id',
    columns: [
      ['position', 'integer'],
      ['observation_id', 'uuid'],
      ['display', 'text'],
    ],
  };
  return {
    columns: [],
    tables: [table],
    fields: (owner) => [
      parts('results', columns('e', ['observation_id', 'display']), rowsOf(table, 'e', owner), 'e.position'),
    ],
    read(reader, name, context) {
      const rows = context
        .references(reader, name, ['Observation'])
        .map(({ target, display }, position) => ({ position, observation_id: target?.id, display }));
      return { values: {}, children: { [table.name]: rows } };
    },
    write: (output, name, { results: listed }) =>
      output.json(
        name,
        referencesTo(
          (listed ?? []).map(({ observationId: id, display }) => ({ type: 'Observation', id, display })),
        ),
      ),
  };
}

/** The whole report as a document. */
export interface DocumentRecord {
  mediaType: string;
  language?: string;
  title?: string;
  created?: string;
  url?: string;
  sizeBytes?: number;
  /** Base64, as the source gave it. */
  sha1?: string;
  /** Base64. */
  content?: string;
}

/** PDF and text are kept, within limits; a document of another type is counted as not kept. */
function documents(): Element<{ documents?: DocumentRecord[] }> {
  const table: ChildTable = {
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
  };
  return {
    columns: [],
    tables: [table],
    fields(owner) {
      const { lesser } = owner;
      const fields = [
        ...columns('d', ['media_type', 'language', 'title']),
        { name: 'created', sql: 'd.created_source' },
        ...columns('d', ['url']),
        // As the source gave it; of content that is left out, its size.
        {
          name: 'sizeBytes',
          sql: lesser === true ? 'coalesce(octet_length(d.content), d.size_bytes)' : 'd.size_bytes',
        },
        ...columns('d', ['sha1']),
        // encode() breaks base64 into lines, FHIR wants none.
        ...(lesser === true
          ? []
          : [{ name: 'content', sql: `translate(encode(d.content, 'base64'), E'\\n', '')` }]),
      ];
      return [parts('documents', fields, rowsOf(table, 'd', owner), 'd.position')];
    },
    read(reader, name, context) {
      const attachments = reader.children(name);
      if (attachments.length > DOCUMENTS) reader.fail(name, `has more than ${DOCUMENTS} documents`);
      const kept = attachments
        .map((attachment) => document(attachment, context))
        .filter((row) => row !== undefined);
      const rows = kept.map((row, position) => ({ position, ...row }));
      return { values: {}, children: { [table.name]: rows } };
    },
    write: (output, name, record) =>
      output.list(name, record.documents, (attachment, one) => {
        attachment.value('contentType', one.mediaType);
        attachment.value('language', one.language);
        attachment.value('data', one.content);
        attachment.value('url', one.url);
        attachment.value('size', one.sizeBytes);
        attachment.value('hash', one.sha1);
        attachment.value('title', one.title);
        attachment.value('creation', one.created);
      }),
  };
}

function document(reader: ElementReader, context: ReadContext): Values | undefined {
  const mediaType = reader.code('contentType');
  if (mediaType === undefined || !DOCUMENT_TYPES.test(mediaType)) {
    reader.ignore('language', 'data', 'url', 'size', 'hash', 'title', 'creation');
    context.notKept(reader.path);
    return undefined;
  }
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
