/**
 * ImagingStudy (https://hl7.org/fhir/R4/imagingstudy.html), with its series and instances.
 * Contract: HTTP-30, FETCH-7.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { codeableConcept, compact, optional } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import { grouped, required } from '../description/element.ts';
import {
  code,
  codingOf,
  codings,
  concepts,
  id,
  identifiers,
  integer,
  jsonList,
  string,
} from '../description/kinds.ts';
import { list } from '../description/list.ts';
import { moment } from '../description/moments.ts';
import {
  ACTORS,
  basedOnOrder,
  notes,
  pointer,
  type RecordPointer,
  reference,
  referenceColumns,
  references,
  referenceTo,
  subject,
} from '../description/pointer.ts';
import type { ReadContext } from '../description/read-context.ts';

const NO_ENDPOINT = 'the service does not serve images';
/** Who may have asked for a study or read it. R4 allows no organisation and no patient there. */
const PEOPLE = ['Practitioner'] as const;
const STATUSES = ['registered', 'available', 'cancelled', 'entered-in-error', 'unknown'] as const;

export const IMAGING_STUDY = describeResource('ImagingStudy', {
  table: 'imaging_study',
  reach: 'facility',
  elements: {
    /** The order that it is under. */
    orderId: grouped('order_id'),
    subject: subject(),
    encounter: referenceColumns('Encounter', 'encounter_id', 'encounter_display'),
    status: required(code('status', STATUSES)),
    identifier: identifiers(),
    basedOn: basedOnOrder(),
    modality: codings('modality'),
    started: moment('started', ['started_source', 'started_at']),
    referrer: reference('referrer', PEOPLE),
    interpreter: references('interpreter', PEOPLE),
    procedureReference: reference('procedure_reference', []),
    procedureCode: concepts('procedure_code'),
    location: reference('location', ['Location']),
    reasonCode: concepts('reason_code'),
    reasonReference: references('reason_reference', ['Observation', 'DiagnosticReport']),
    note: notes('note'),
    description: string('description'),
    numberOfSeries: integer('number_of_series', 0),
    numberOfInstances: integer('number_of_instances', 0),
    // Instances refer to series: they are written after their series, and the cascade removes them with it.
    series: list('ImagingStudy.series', {
      table: 'imaging_series',
      parent: 'study_id',
      alias: 't',
      member: 'series',
      elements: {
        uid: required(id('uid')),
        number: integer('number', 0),
        modality: required(codingOf('modality')),
        description: string('description'),
        numberOfInstances: integer('number_of_instances', 0),
        bodySite: codingOf('body_site'),
        laterality: codingOf('laterality'),
        specimen: references('specimen', []),
        started: moment('started', ['started_source']),
        performer: jsonList('performer', readPerformer, writtenPerformer),
        instance: list('ImagingStudy.series.instance', {
          table: 'imaging_instance',
          parent: 'study_id',
          alias: 'i',
          member: 'instances',
          within: { column: 'series_position' },
          elements: {
            uid: required(id('uid')),
            sopClass: required(codingOf('sop_class')),
            number: integer('number', 0),
            title: string('title'),
          },
          notKept: {},
        }),
      },
      notKept: { endpoint: NO_ENDPOINT },
    }),
  },
  notKept: { endpoint: NO_ENDPOINT },
});

export interface StudyRecord extends RecordOf<typeof IMAGING_STUDY> {}

interface SeriesPerformer {
  function?: CodeableConcept;
  actor: RecordPointer;
}

/** `actor` is 1..1: a performer of whom nothing is left is left out. */
function readPerformer(reader: ElementReader, context: ReadContext): SeriesPerformer | undefined {
  const actor = pointer(context.reference(reader, 'actor', ACTORS));
  const role = optional(reader.child('function'), codeableConcept);
  if (actor !== undefined) return compact<SeriesPerformer>({ function: role, actor });
  context.notKept(reader.path);
  return undefined;
}

function writtenPerformer({ function: role, actor }: SeriesPerformer): object | undefined {
  return compact({ function: role, actor: referenceTo(actor) });
}
