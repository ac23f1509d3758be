/**
 * ServiceRequest (https://hl7.org/fhir/R4/servicerequest.html): a laboratory or imaging order, or one for something else.
 * Contract: HTTP-30, FETCH-10.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { parseDateTime } from '../../fhir/date-time.ts';
import { SNOMED_CT } from '../../terminology/lookup/code-systems.ts';
import { choice } from '../description/choice.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import { derived, type Found, NOTHING, onlyStored, type Read, required } from '../description/element.ts';
import {
  boolean,
  categories,
  code,
  concept,
  concepts,
  identifier,
  identifiers,
  mappedConcept,
  string,
} from '../description/kinds.ts';
import { instant, moment, occurrence } from '../description/moments.ts';
import { ACTORS, notes, reference, referenceColumns, references, subject } from '../description/pointer.ts';
import { type Discipline, orderDiscipline } from './discipline.ts';

const STATUSES = [
  'draft',
  'active',
  'on-hold',
  'revoked',
  'completed',
  'entered-in-error',
  'unknown',
] as const;
const INTENTS = [
  'proposal',
  'plan',
  'directive',
  'order',
  'original-order',
  'reflex-order',
  'filler-order',
  'instance-order',
  'option',
] as const;
const PRIORITIES = ['routine', 'urgent', 'asap', 'stat'] as const;

/** Categories of the R4 example value set "Service Request Category Codes". */
const CATEGORY: Readonly<Record<Discipline, CodeableConcept | undefined>> = {
  laboratory: { coding: [{ system: SNOMED_CT, code: '108252007', display: 'Laboratory procedure' }] },
  imaging: { coding: [{ system: SNOMED_CT, code: '363679005', display: 'Imaging' }] },
  other: undefined,
};

export const SERVICE_REQUEST = describeResource('ServiceRequest', {
  table: 'investigation_order',
  reach: 'facility',
  elements: {
    subject: subject(),
    encounter: referenceColumns('Encounter', 'encounter_id', 'encounter_display'),
    discipline: derived('discipline', 'text', ({ values, reader }) =>
      orderDiscipline(
        values.category as CodeableConcept[] | undefined,
        values.code as CodeableConcept | undefined,
        reader.has('specimen'),
      ),
    ),
    /** True for an order that stands for a report, a result or a study without one. An import writes false. */
    madeUp: onlyStored('made_up', 'boolean', () => false),
    status: required(code('status', STATUSES)),
    intent: required(code('intent', INTENTS)),
    priority: code('priority', PRIORITIES),
    doNotPerform: boolean('do_not_perform'),
    identifier: identifiers(),
    requisition: identifier('requisition'),
    category: categories(
      concepts,
      ({ discipline, category }: { discipline: Discipline; category?: CodeableConcept[] }) =>
        category === undefined ? CATEGORY[discipline] : undefined,
    ),
    code: mappedConcept('code'),
    orderDetail: orderDetail(),
    basedOn: references('based_on', ['ServiceRequest']),
    replaces: references('replaces', ['ServiceRequest']),
    'occurrence[x]': occurrence(),
    'asNeeded[x]': choice({ Boolean: boolean('as_needed'), CodeableConcept: concept('as_needed_for') }),
    authoredOn: moment('authored', ['authored_at', 'authored_source']),
    requester: reference('requester', ACTORS),
    performerType: concept('performer_type'),
    performer: references('performer', ACTORS),
    locationCode: concepts('location_code'),
    locationReference: references('location', ['Location']),
    reasonCode: concepts('reason_code'),
    reasonReference: references('reason_reference', ['Observation', 'DiagnosticReport']),
    bodySite: concepts('body_site'),
    specimen: references('specimen', ['Specimen']),
    note: notes('note'),
    patientInstruction: string('patient_instruction'),
    /** What lists are ordered by. */
    sortAt: onlyStored('sort_at', 'timestamptz', sortAt),
  },
  notKept: {
    instantiatesCanonical: 'protocols and definitions are not kept',
    instantiatesUri: 'protocols and definitions are not kept',
    'quantity[x]': 'laboratory and imaging orders do not have it',
    insurance: 'coverage is not held',
    supportingInfo: 'it may refer to any type of resource, and most types are not kept',
    relevantHistory: 'provenance is not held',
  },
});

/** R4 invariant prr-1: details are of a code. */
function orderDetail() {
  return {
    ...concepts('order_detail'),
    derive({ values, reader }: Found): Read {
      if (values.order_detail !== undefined && values.code === undefined)
        reader.fail('code', 'is missing, but orderDetail is given');
      return NOTHING;
    },
  };
}

export interface OrderRecord extends RecordOf<typeof SERVICE_REQUEST> {}

/** When it was written, else when it is to happen. Grouping sets the others by their oldest part. */
function sortAt({ values, context }: Found): unknown {
  const due = values.occurrence_start ?? values.occurrence_end;
  const dueAt = typeof due === 'string' ? parseDateTime(due) : undefined;
  return values.authored_at ?? instant(dueAt, context.scope.timeZone) ?? '-infinity';
}
