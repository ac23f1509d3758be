/**
 * Specimen (https://hl7.org/fhir/R4/specimen.html): what a result was measured on.
 * Contract: FETCH-35.
 */
import type { CodeableConcept, Identifier } from '../../fhir/coded.ts';
import type { Quantity } from '../../fhir/measured.ts';
import {
  codeableConcept,
  compact,
  nonEmpty,
  optional,
  period,
  readIdentifier,
} from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { duration, simpleQuantity } from '../../fhir/reading/measured.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import {
  code,
  concept,
  concepts,
  dateTime,
  exact,
  exactList,
  identifier,
  identifiers,
} from '../description/kinds.ts';
import {
  notes,
  pointer,
  pointersAt,
  type RecordPointer,
  references,
  referencesTo,
  referenceTo,
  subject,
} from '../description/pointer.ts';
import type { ReadContext } from '../description/read-context.ts';
import { inUcum } from '../observations/value.fhir.ts';

const STATUSES = ['available', 'unavailable', 'unsatisfactory', 'entered-in-error'] as const;

export const SPECIMEN = describeResource('Specimen', {
  table: 'specimen',
  reach: 'facility',
  elements: {
    subject: subject(),
    identifier: identifiers(),
    accessionIdentifier: identifier('accession_identifier'),
    status: code('status', STATUSES),
    type: concept('type'),
    receivedTime: dateTime('received_time'),
    parent: references('parent', ['Specimen']),
    request: references('request', ['ServiceRequest']),
    collection: exact('collection', readCollection, writtenCollection),
    processing: exactList('processing', readProcessing, writtenProcessing),
    container: exactList('container', readContainer, writtenContainer),
    condition: concepts('condition'),
    note: notes('note'),
  },
  notKept: {},
});

export interface SpecimenRecord extends RecordOf<typeof SPECIMEN> {}

/** A time of a part, under its FHIR name: `collectedDateTime`, `timePeriod`. */
type Times = Readonly<Record<string, string | object>>;

interface Collection {
  collector?: RecordPointer;
  times?: Times;
  duration?: Quantity;
  quantity?: Quantity;
  method?: CodeableConcept;
  bodySite?: CodeableConcept;
  fastingStatusCodeableConcept?: CodeableConcept;
  fastingStatusDuration?: Quantity;
}

interface Processing {
  description?: string;
  procedure?: CodeableConcept;
  additive?: RecordPointer[];
  times?: Times;
}

interface Container {
  identifier?: Identifier[];
  description?: string;
  type?: CodeableConcept;
  capacity?: Quantity;
  specimenQuantity?: Quantity;
  additiveCodeableConcept?: CodeableConcept;
  additiveReference?: RecordPointer;
}

function readCollection(reader: ElementReader, context: ReadContext): Collection | undefined {
  reader.choice('fastingStatus');
  return compact<Collection>({
    collector: pointer(context.reference(reader, 'collector', ['Practitioner'])),
    times: times(reader, 'collected'),
    duration: optional(reader.child('duration'), duration),
    quantity: optional(reader.child('quantity'), amount),
    method: optional(reader.child('method'), codeableConcept),
    bodySite: optional(reader.child('bodySite'), codeableConcept),
    fastingStatusCodeableConcept: optional(reader.child('fastingStatusCodeableConcept'), codeableConcept),
    fastingStatusDuration: optional(reader.child('fastingStatusDuration'), duration),
  });
}

function writtenCollection({ collector, times: at, ...rest }: Collection): object | undefined {
  const reference = collector && referenceTo(collector);
  return compact({ collector: reference, ...at, ...rest });
}

/** Substances are not taken: an additive keeps what it is called. */
function readProcessing(reader: ElementReader, context: ReadContext): Processing | undefined {
  return compact<Processing>({
    description: reader.string('description'),
    procedure: optional(reader.child('procedure'), codeableConcept),
    additive: pointersAt(context.references(reader, 'additive', [])),
    times: times(reader, 'time'),
  });
}

function writtenProcessing({ additive, times: at, ...rest }: Processing): object | undefined {
  return compact({ ...rest, additive: additive && referencesTo(additive), ...at });
}

function readContainer(reader: ElementReader, context: ReadContext): Container | undefined {
  reader.choice('additive');
  return compact<Container>({
    identifier: nonEmpty(reader.children('identifier').map(readIdentifier)),
    description: reader.string('description'),
    type: optional(reader.child('type'), codeableConcept),
    capacity: optional(reader.child('capacity'), amount),
    specimenQuantity: optional(reader.child('specimenQuantity'), amount),
    additiveCodeableConcept: optional(reader.child('additiveCodeableConcept'), codeableConcept),
    additiveReference: pointer(context.reference(reader, 'additiveReference', [])),
  });
}

function writtenContainer({ additiveReference, ...rest }: Container): object | undefined {
  const reference = additiveReference && referenceTo(additiveReference);
  return compact({ ...rest, additiveReference: reference });
}

function amount(reader: ElementReader): Quantity | undefined {
  const given = simpleQuantity(reader);
  return given && inUcum(given);
}

/** `collected[x]` and `time[x]`: a dateTime or a Period, as it was written. */
function times(reader: ElementReader, prefix: string): Times | undefined {
  reader.choice(prefix);
  return compact<Record<string, string | object>>({
    [`${prefix}DateTime`]: reader.dateTime(`${prefix}DateTime`)?.text,
    [`${prefix}Period`]: optional(reader.child(`${prefix}Period`), period),
  });
}
