/**
 * Encounter (https://hl7.org/fhir/R4/encounter.html).
 * Contract: HTTP-30, ENC-3, ENC-5, ENC-6, ENC-7, ENC-8, ENC-9, ENC-36, ENC-38.
 */
import { ACT_CODE_SYSTEM, ENCOUNTER_CLASS_DISPLAY } from '../../fhir/act-code.ts';
import type { CodeableConcept, Coding, Identifier } from '../../fhir/coded.ts';
import { instantText } from '../../fhir/date-time.ts';
import {
  codeableConcept,
  compact,
  lastInstant,
  nonEmpty,
  optional,
  periodBounds,
  readIdentifier,
} from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { duration } from '../../fhir/reading/measured.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import {
  type ChildTable,
  type Derived,
  type Element,
  onlyStored,
  onlyStoredRows,
  required,
  single,
} from '../description/element.ts';
import { code, concept, concepts, exact, identifiers } from '../description/kinds.ts';
import { list } from '../description/list.ts';
import { instant, periodOf, periodTexts } from '../description/moments.ts';
import type { Output } from '../description/output.ts';
import {
  pointer,
  type RecordPointer,
  referenceColumns,
  referenceTo,
  subject,
} from '../description/pointer.ts';
import type { ReadContext } from '../description/read-context.ts';

export const ENCOUNTER_STATUSES = [
  'planned',
  'in-progress',
  'finished',
  'cancelled',
  'entered-in-error',
] as const;
export type EncounterStatus = (typeof ENCOUNTER_STATUSES)[number];
/** R4 statuses of a visit that is under way, which the model does not tell apart. */
const UNDER_WAY = ['arrived', 'triaged', 'onleave'] as const;
const STATUSES_TAKEN = [...ENCOUNTER_STATUSES, ...UNDER_WAY] as const;
const LOCATION_STATUSES = ['planned', 'active', 'reserved', 'completed'] as const;

const NO_HISTORY = 'the present state is held, not how it came to be';

/** The Coding of each encounter class. */
const CLASSES: ReadonlyMap<string, Coding> = new Map(
  Object.entries(ENCOUNTER_CLASS_DISPLAY).map(([code, display]) => [
    code,
    { system: ACT_CODE_SYSTEM, code, display },
  ]),
);

/** What stands for an element whose value is not known. */
const UNKNOWN = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};

export const ENCOUNTER = describeResource('Encounter', {
  table: 'encounter',
  reach: 'facility',
  elements: {
    subject: subject(),
    status: required(status()),
    class: encounterClass(),
    period: visitPeriod(),
    /** What searches are ordered by. */
    sortStart: onlyStored('sort_start', 'timestamptz', ({ values }) => values.period_start ?? '-infinity'),
    identifier: identifiers(),
    type: concepts('type'),
    priority: concept('priority'),
    reasonCode: concepts('reason_code'),
    hospitalization: hospitalization(),
    serviceProvider: serviceProvider(),
    participant: list('Encounter.participant', {
      table: 'encounter_participant',
      parent: 'encounter_id',
      alias: 't',
      member: 'participants',
      position: 'smallint',
      elements: {
        individual: referenceColumns('Practitioner', 'practitioner_id', 'display'),
        type: concepts('type'),
        period: periodTexts(),
      },
      notKept: {},
    }),
    location: list('Encounter.location', {
      table: 'encounter_location',
      parent: 'encounter_id',
      alias: 'l',
      member: 'locations',
      position: 'smallint',
      elements: {
        // It is 1..1, so a place without a reference or a name is left out.
        location: place(),
        status: code('status', LOCATION_STATUSES),
        period: periodTexts(),
        physicalType: concept('physical_type'),
      },
      notKept: {},
      isShown: ({ locationId, display }) => Boolean(locationId) || Boolean(display),
    }),
    identifierKeys: identifierKeys(),
    serviceType: concept('service_type'),
    length: exact('length', duration),
    partOf: wholeVisit(),
  },
  notKept: {
    statusHistory: NO_HISTORY,
    classHistory: NO_HISTORY,
    episodeOfCare: 'episodes of care are not held',
    basedOn: 'no call shows orders for visits',
    appointment: 'appointments are not held',
    reasonReference: 'conditions are not held',
    diagnosis: 'conditions are not held',
    account: 'accounts are not held',
  },
});

export interface EncounterRow extends RecordOf<typeof ENCOUNTER> {}

function place() {
  const kept = referenceColumns('Location', 'location_id', 'display');
  return {
    ...kept,
    read: (reader, name, context) =>
      kept.read(reader, reader.has(name) ? name : reader.fail(name, 'is missing'), context),
  } satisfies typeof kept;
}

function status(): Element<{ status?: EncounterStatus }> {
  return single<'status', EncounterStatus>('status', {
    type: 'text',
    read(reader, name, context) {
      const given = reader.code(name, STATUSES_TAKEN);
      if (given === undefined || !isUnderWay(given)) return given;
      context.notKept('Encounter.status');
      return 'in-progress';
    },
    write: (output, name, value) => output.value(name, value),
  });
}

function isUnderWay(given: string): given is (typeof UNDER_WAY)[number] {
  return (UNDER_WAY as readonly string[]).includes(given);
}

function isOpen(status: (typeof STATUSES_TAKEN)[number]): boolean {
  return status === 'in-progress' || isUnderWay(status);
}

/**
 * `class` is a Coding of v3 ActCode; its system may be left out where the code is a known encounter class. It is
 * written with the official display or none.
 */
function encounterClass(): Element<{ classCode: string }> {
  return {
    columns: [
      ['class_code', 'text'],
      ['class_display', 'text'],
    ],
    fields: ({ alias }) => [{ name: 'classCode', sql: `${alias}.class_code` }],
    read(encounter, name) {
      const reader = encounter.required(name, encounter.child(name));
      const classCode = reader.required('code', reader.code('code'));
      const system = reader.uri('system');
      if (system === undefined && !Object.hasOwn(ENCOUNTER_CLASS_DISPLAY, classCode))
        reader.fail(
          'system',
          `is missing, and the code is not one of ${Object.keys(ENCOUNTER_CLASS_DISPLAY).join(', ')}. Send the system, or map the code.`,
        );
      if (system !== undefined && system !== ACT_CODE_SYSTEM)
        reader.fail(
          'system',
          `is not ${ACT_CODE_SYSTEM}, and no terminology map leads from its code to one of that system. Map the code first.`,
        );
      return { values: { class_code: classCode, class_display: reader.string('display') } };
    },
    write(output, name, { classCode }) {
      output.json(name, CLASSES.get(classCode) ?? { system: ACT_CODE_SYSTEM, code: classCode });
    },
  };
}

/**
 * A visit under way has no end yet: what its source expects is left out, in answers and in searches by date.
 * A Period without an end goes on (R4, "Period"). A visit that is finished does not: its end is not known, which
 * the extension says (https://hl7.org/fhir/R4/extension-data-absent-reason.html).
 */
function visitPeriod(): Element<{ start?: string; end?: string; status: EncounterStatus }> {
  return {
    columns: [
      ['period_start', 'timestamptz'],
      ['period_end', 'timestamptz'],
      ['period_start_source', 'text'],
      ['period_end_source', 'text'],
    ],
    // As it was written; without that, the instant as PostgreSQL writes it.
    fields: ({ alias }) => [
      { name: 'start', sql: `coalesce(${alias}.period_start_source, ${alias}.period_start::text)` },
      { name: 'end', sql: `coalesce(${alias}.period_end_source, ${alias}.period_end::text)` },
    ],
    read(encounter, name, context) {
      const period = encounter.child(name);
      const { start, end: given } = period === undefined ? {} : periodBounds(period);
      const status = encounter.code('status', STATUSES_TAKEN);
      const end = status !== undefined && isOpen(status) ? undefined : given;
      if (end !== given) context.notKept('Encounter.period.end');
      return {
        values: {
          period_start: instant(start, context.scope.timeZone),
          period_end: end === undefined ? undefined : instantText(lastInstant(end, context.scope.timeZone)),
          period_start_source: start?.text,
          period_end_source: end?.text,
        },
      };
    },
    write(output, name, { status, start, end }) {
      if (status !== 'finished' || !start || end) return output.json(name, periodOf(start, end));
      output.object(name, (period) => {
        period.value('start', start);
        period.json('_end', UNKNOWN);
      });
    },
  };
}

/** What is kept of a stay beside its `dischargeDisposition`, which has a column of its own. */
interface Stay {
  preAdmissionIdentifier?: Identifier;
  origin?: RecordPointer;
  admitSource?: CodeableConcept;
  reAdmission?: CodeableConcept;
  dietPreference?: CodeableConcept[];
  specialCourtesy?: CodeableConcept[];
  specialArrangement?: CodeableConcept[];
  destination?: RecordPointer;
}

const PLACES = ['Location', 'Organization'];

function hospitalization(): Element<{ dischargeDisposition?: CodeableConcept; hospitalization?: Stay }> {
  const disposition = concept('discharge_disposition');
  return {
    columns: [...disposition.columns, ['hospitalization', 'jsonb']],
    fields: (owner) => [
      ...disposition.fields(owner),
      { name: 'hospitalization', sql: `${owner.alias}.hospitalization` },
    ],
    read(encounter, name, context) {
      const reader = encounter.child(name);
      return {
        values: {
          discharge_disposition: optional(reader?.child('dischargeDisposition'), codeableConcept),
          hospitalization: reader && stayOf(reader, context),
        },
      };
    },
    write(output, name, record, context) {
      output.object(name, (stay) => {
        if (record.hospitalization) writeStay(stay, record.hospitalization);
        disposition.write(stay, 'dischargeDisposition', record, context);
      });
    },
  };
}

function stayOf(reader: ElementReader, context: ReadContext): Stay | undefined {
  const one = (name: string) => optional(reader.child(name), codeableConcept);
  const several = (name: string) => nonEmpty(reader.children(name).map(codeableConcept));
  const place = (name: string) => pointer(context.reference(reader, name, PLACES));
  return compact<Stay>({
    preAdmissionIdentifier: optional(reader.child('preAdmissionIdentifier'), readIdentifier),
    origin: place('origin'),
    admitSource: one('admitSource'),
    reAdmission: one('reAdmission'),
    dietPreference: several('dietPreference'),
    specialCourtesy: several('specialCourtesy'),
    specialArrangement: several('specialArrangement'),
    destination: place('destination'),
  });
}

/** In the order of the FHIR page. */
function writeStay(output: Output, stay: Stay): void {
  output.json('preAdmissionIdentifier', stay.preAdmissionIdentifier);
  output.json('origin', stay.origin && referenceTo(stay.origin));
  output.json('admitSource', stay.admitSource);
  output.json('reAdmission', stay.reAdmission);
  output.json('dietPreference', stay.dietPreference);
  output.json('specialCourtesy', stay.specialCourtesy);
  output.json('specialArrangement', stay.specialArrangement);
  output.json('destination', stay.destination && referenceTo(stay.destination));
}

/** The visit that this one is a part of. HL7's own example f203 names itself, which says nothing. */
function wholeVisit() {
  const kept = referenceColumns('Encounter', 'part_of_id', 'part_of_display');
  return {
    ...kept,
    read(reader, name, context) {
      const read = kept.read(reader, name, context);
      if (read.values.part_of_id !== context.id) return read;
      context.notKept('Encounter.partOf');
      return { values: {} };
    },
  } satisfies typeof kept;
}

/**
 * The organisation that the source named, if it is here; else the tenant, which is then responsible itself. A name alone would
 * stand beside another organisation: it is counted as not kept.
 */
function serviceProvider() {
  const kept = referenceColumns('Organization', 'service_provider_id', 'service_provider_display');
  return {
    ...kept,
    read(reader, name, context) {
      const given = context.reference(reader, name, ['Organization']);
      if (given?.isOnlyName === true && given.display !== undefined)
        context.notKept(`${reader.path}.${name}`);
      return {
        values: { service_provider_id: given?.target?.id, service_provider_display: given?.display },
      };
    },
    write(output, name, { serviceProviderId: id, serviceProviderDisplay: display }, { organisationId }) {
      const provider = id === undefined ? { id: organisationId } : { id, display };
      output.json(name, referenceTo({ type: 'Organization', ...provider }));
    },
  } satisfies typeof kept;
}

/** What conditional references look for: identifiers with a system and a value, once each. */
function identifierKeys(): Derived {
  const table: ChildTable = {
    name: 'encounter_identifier',
    parent: 'encounter_id',
    columns: [
      ['position', 'smallint'],
      ['system', 'text'],
      ['value', 'text'],
    ],
  };
  return onlyStoredRows(table, ({ values }) => {
    const given = (values.identifier ?? []) as Identifier[];
    const complete = given.filter(({ system, value }) => system !== undefined && value !== undefined);
    const distinct = new Map(complete.map(({ system, value }) => [`${system}|${value}`, { system, value }]));
    return [...distinct.values()].map((key, position) => ({ position, ...key }));
  });
}
