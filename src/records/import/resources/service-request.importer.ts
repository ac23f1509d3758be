/** ServiceRequest into orders (https://hl7.org/fhir/R4/servicerequest.html). */

import {
  codeableConcept,
  identifier,
  list,
  optional,
  periodBounds,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { groupRecords, noteTouched } from '../group/group-records.ts';
import {
  ACTORS,
  concepts,
  encounterColumns,
  instant,
  notes,
  pointer,
  pointers,
  timing,
} from '../map/clinical-values.ts';
import type { MapContext, ResourceImporter } from '../map/resource-importer.ts';
import { facilityLookup } from '../resolve/clinical-lookup.ts';
import type { RecordTable } from '../write/record-table.ts';
import { type RecordRow, writeRecords } from '../write/write-records.ts';
import { orderDiscipline } from './discipline.ts';

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

const TABLE: RecordTable = {
  name: 'investigation_order',
  reach: 'facility',
  columns: [
    ['patient_id', 'uuid'],
    ['encounter_id', 'uuid'],
    ['encounter_display', 'text'],
    ['discipline', 'text'],
    ['made_up', 'boolean'],
    ['status', 'text'],
    ['intent', 'text'],
    ['priority', 'text'],
    ['do_not_perform', 'boolean'],
    ['identifier', 'jsonb'],
    ['requisition', 'jsonb'],
    ['category', 'jsonb'],
    ['code', 'jsonb'],
    ['order_detail', 'jsonb'],
    ['based_on', 'jsonb'],
    ['replaces', 'jsonb'],
    ['occurrence_type', 'text'],
    ['occurrence_start', 'text'],
    ['occurrence_end', 'text'],
    ['occurrence_timing', 'jsonb'],
    ['as_needed', 'boolean'],
    ['as_needed_for', 'jsonb'],
    ['authored_at', 'timestamptz'],
    ['authored_source', 'text'],
    ['requester', 'jsonb'],
    ['performer_type', 'jsonb'],
    ['performer', 'jsonb'],
    ['location_code', 'jsonb'],
    ['location', 'jsonb'],
    ['reason_code', 'jsonb'],
    ['reason_reference', 'jsonb'],
    ['body_site', 'jsonb'],
    ['specimen', 'jsonb'],
    ['note', 'jsonb'],
    ['patient_instruction', 'text'],
    ['sort_at', 'timestamptz'],
  ],
  children: [],
};

export const serviceRequestImporter: ResourceImporter<RecordRow> = {
  type: 'ServiceRequest',
  order: 60,
  lookup: facilityLookup('investigation_order'),
  map: (resource, context) => ({ id: context.id, values: orderColumns(resource, context), children: {} }),
  async write(rows, context) {
    const result = await writeRecords(context, { table: TABLE, rows });
    noteTouched(context, 'orders', rows, result);
    return result;
  },
  tables: [TABLE],
  finish: groupRecords,
};

function orderColumns(resource: ElementReader, context: MapContext): Record<string, unknown> {
  const { timeZone } = context.scope;
  const category = concepts(resource.children('category'));
  const code = optional(resource.child('code'), codeableConcept);
  const authored = resource.dateTime('authoredOn');
  const occurrence = occurrenceColumns(resource, timeZone);
  return {
    patient_id: context.requiredReference(resource, 'subject', ['Patient']).id,
    ...encounterColumns(resource, context),
    discipline: orderDiscipline(category, code, resource.has('specimen')),
    made_up: false,
    status: resource.required('status', resource.code('status', STATUSES)),
    intent: resource.required('intent', resource.code('intent', INTENTS)),
    priority: resource.code('priority', PRIORITIES),
    do_not_perform: resource.boolean('doNotPerform'),
    identifier: list(resource.children('identifier').map(identifier)),
    requisition: optional(resource.child('requisition'), identifier),
    category,
    code,
    order_detail: concepts(resource.children('orderDetail')),
    based_on: pointers(context.references(resource, 'basedOn', ['ServiceRequest'])),
    replaces: pointers(context.references(resource, 'replaces', ['ServiceRequest'])),
    ...occurrence.columns,
    as_needed: resource.boolean('asNeededBoolean'),
    as_needed_for: optional(resource.child('asNeededCodeableConcept'), codeableConcept),
    authored_at: instant(authored, timeZone),
    authored_source: authored?.text,
    requester: pointer(context.reference(resource, 'requester', ACTORS)),
    performer_type: optional(resource.child('performerType'), codeableConcept),
    performer: pointers(context.references(resource, 'performer', ACTORS)),
    location_code: concepts(resource.children('locationCode')),
    location: pointers(context.references(resource, 'locationReference', ['Location'])),
    reason_code: concepts(resource.children('reasonCode')),
    reason_reference: pointers(
      context.references(resource, 'reasonReference', ['Observation', 'DiagnosticReport']),
    ),
    body_site: concepts(resource.children('bodySite')),
    specimen: pointers(context.references(resource, 'specimen', [])),
    note: notes(resource, context),
    patient_instruction: resource.string('patientInstruction'),
    sort_at: instant(authored, timeZone) ?? occurrence.at ?? '-infinity',
  };
}

function occurrenceColumns(
  resource: ElementReader,
  timeZone: string,
): { columns: Record<string, unknown>; at: string | undefined } {
  const name = resource.choice('occurrence');
  switch (name) {
    case 'occurrenceDateTime': {
      const at = resource.dateTime(name);
      return {
        columns: { occurrence_type: 'dateTime', occurrence_start: at?.text },
        at: instant(at, timeZone),
      };
    }
    case 'occurrencePeriod': {
      const reader = resource.child(name);
      const { start, end } = reader === undefined ? {} : periodBounds(reader, timeZone);
      if (start === undefined && end === undefined) resource.fail(name, 'has neither start nor end');
      return {
        columns: { occurrence_type: 'Period', occurrence_start: start?.text, occurrence_end: end?.text },
        at: instant(start ?? end, timeZone),
      };
    }
    case 'occurrenceTiming':
      return {
        columns: { occurrence_type: 'Timing', occurrence_timing: optional(resource.child(name), timing) },
        at: undefined,
      };
    case undefined:
      return { columns: {}, at: undefined };
    default:
      return resource.fail(name, 'is of a type that a ServiceRequest cannot have');
  }
}
