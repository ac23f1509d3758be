/**
 * Patient (https://hl7.org/fhir/R4/patient.html), with the keys that searches look for.
 * Contract: HTTP-30, PAT-7.
 */
import { businessIdentifiers, type CodeableConcept, type Identifier, type Period } from '../../fhir/coded.ts';
import type { Address, ContactPoint, HumanName } from '../../fhir/person.ts';
import {
  codeableConcept,
  compact,
  GENDERS,
  nonEmpty,
  optional,
  period,
  address as readAddress,
  contactPoint as readContactPoint,
  humanName as readHumanName,
} from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { choice } from '../description/choice.ts';
import {
  ADDRESS,
  CONTACT_POINT,
  dataTypeList,
  HUMAN_NAME,
  IDENTIFIER,
} from '../description/data-type-list.ts';
import { describeResource, type RecordOf } from '../description/describe.ts';
import {
  type Children,
  type ChildTable,
  type Derived,
  type Element,
  onlyStored,
  onlyStoredRows,
  type Values,
} from '../description/element.ts';
import { boolean, code, concept, date, dateTime, integer, jsonList } from '../description/kinds.ts';
import { referenceTo } from '../description/pointer.ts';
import type { ReadContext } from '../description/read-context.ts';
import { patientSearchKeys, type SearchedPatient, sortName } from './search-key.ts';

export const PATIENT = describeResource('Patient', {
  table: 'patient',
  reach: 'organisation',
  elements: {
    name: dataTypeList(HUMAN_NAME, { ...ofPatient('patient_name', 'n'), member: 'names' }),
    identifier: identifiers(),
    telecom: telecoms(),
    active: boolean('active'),
    gender: code('gender', GENDERS),
    birthDate: date('birth_date'),
    // The more exact of two types goes out.
    'deceased[x]': choice({ Boolean: boolean('deceased_boolean'), DateTime: dateTime('deceased_date_time') }),
    maritalStatus: concept('marital_status'),
    'multipleBirth[x]': choice({
      Boolean: boolean('multiple_birth_boolean'),
      Integer: integer('multiple_birth_integer'),
    }),
    communication: jsonList('communication', communication),
    contact: contacts(),
    /** What lists are ordered by. */
    sortName: onlyStored('sort_name', 'text', ({ children }) => sortName(searched(children).names)),
    address: dataTypeList(ADDRESS, { ...ofPatient('patient_address', 'a'), member: 'addresses' }),
    searchKeys: searchKeys(),
    link: links(),
  },
  notKept: {
    photo: 'images are not held',
    generalPractitioner: 'no column holds it yet',
    managingOrganization: 'a patient is registered at facilities',
  },
});

export type HeldPatient = RecordOf<typeof PATIENT>;

function ofPatient<const Table extends string>(table: Table, alias: string) {
  return { table, parent: 'patient_id', alias };
}

/** The source's identifiers, ours where none of them says both system and value, and those that exchanges assigned. */
function identifiers(): Element<{
  identifiers?: Identifier[];
  assignedIdentifiers?: Identifier[];
  id: string;
}> {
  return {
    ...dataTypeList(IDENTIFIER, { ...ofPatient('patient_identifier', 'i'), member: 'identifiers' }),
    write(output, name, { identifiers: given, assignedIdentifiers: assigned, id }, { organisationId }) {
      output.json(name, [...businessIdentifiers(given, organisationId, id), ...(assigned ?? [])]);
    },
  };
}

/** R4 invariant cpt-2: a value needs a system. */
function telecoms(): Element<{ telecoms?: ContactPoint[] }> {
  return {
    ...dataTypeList(CONTACT_POINT, { ...ofPatient('patient_telecom', 't'), member: 'telecoms' }),
    write: (output, name, { telecoms: given }) =>
      output.json(
        name,
        given?.map((point) =>
          point.value !== undefined && point.system === undefined ? { ...point, system: 'other' } : point,
        ),
      ),
  };
}

export interface PatientCommunication {
  language: CodeableConcept;
  preferred?: boolean;
}

function communication(reader: ElementReader): PatientCommunication | undefined {
  return compact<PatientCommunication>({
    language: reader.required('language', optional(reader.child('language'), codeableConcept)),
    preferred: reader.boolean('preferred'),
  });
}

export interface PatientContact {
  relationship?: CodeableConcept[];
  name?: HumanName;
  telecom?: ContactPoint[];
  address?: Address;
  gender?: string;
  period?: Period;
}

/** R4 invariant pat-1: a contact says who it is, or is left out. */
function contacts(): Element<{ contacts?: PatientContact[] }> {
  return {
    ...jsonList('contact', contact),
    fields: ({ alias }) => [{ name: 'contacts', sql: `${alias}.contact` }],
    write: (output, name, { contacts: given }) => output.json(name, given?.filter(hasDetails)),
  };
}

function contact(reader: ElementReader, context: ReadContext): PatientContact | undefined {
  const read = compact<PatientContact>({
    relationship: nonEmpty(reader.children('relationship').map(codeableConcept)),
    name: optional(reader.child('name'), readHumanName),
    telecom: nonEmpty(reader.children('telecom').map(readContactPoint)),
    address: optional(reader.child('address'), readAddress),
    gender: reader.code('gender', GENDERS),
    period: optional(reader.child('period'), period),
  });
  if (read !== undefined && !hasDetails(read)) context.notKept(reader.path);
  return read;
}

function hasDetails({ name, telecom, address }: PatientContact): boolean {
  return name !== undefined || telecom !== undefined || address !== undefined;
}

/** Types of R4 LinkType: the other record replaces this one, is replaced by it, or is of the same person. */
const LINK_TYPES = ['replaced-by', 'replaces', 'refer', 'seealso'] as const;

export interface PatientLink {
  /** Undefined where the other patient is not here. */
  otherId?: string;
  /** Only of a patient who is not here. A copied name of one who is here could outlive that patient's own record. */
  otherDisplay?: string;
  type: (typeof LINK_TYPES)[number];
}

/**
 * Which of them a caller sees depends on the other patient: src/patients/patient.store.ts selects them. `other` is 1..1, so a
 * link of whose other patient nothing is left, such as a contained one without a name, is left out.
 */
function links(): Element<{ links?: PatientLink[] }> {
  const table = 'patient_link';
  return {
    columns: [],
    tables: [
      {
        name: table,
        parent: 'patient_id',
        columns: [
          ['position', 'smallint'],
          ['other_id', 'uuid'],
          ['other_display', 'text'],
          ['type', 'text'],
        ],
        addedLater: true,
      },
    ],
    fields: () => [],
    read(reader, name, context) {
      const rows = reader.children(name).map((item, position) => ({ position, ...link(item, context) }));
      return { values: {}, children: { [table]: rows } };
    },
    write: (output, name, { links: given }) =>
      output.list(name, given, (written, { otherId, otherDisplay, type }) => {
        if (otherId === undefined && otherDisplay === undefined) return;
        written.json('other', referenceTo({ type: 'Patient', id: otherId, display: otherDisplay }));
        written.value('type', type);
      }),
  };
}

/** `other` may be a RelatedPerson too, of which only the display is kept. */
function link(reader: ElementReader, context: ReadContext): Values {
  const other = context.reference(reader, 'other', ['Patient']);
  if (other === undefined) reader.fail('other', 'is missing');
  if (other.target?.id === context.id) reader.fail('other', 'refers to the patient itself');
  return {
    other_id: other.target?.id,
    other_display: other.display,
    type: reader.required('type', reader.code('type', LINK_TYPES)),
  };
}

function searchKeys(): Derived {
  const table: ChildTable = {
    name: 'patient_search_key',
    parent: 'patient_id',
    columns: [
      ['kind', 'text'],
      ['key', 'text'],
    ],
    repeats: [['sort_name', 'text']],
  };
  return onlyStoredRows(table, ({ children }) =>
    patientSearchKeys(searched(children)).map(({ kind, key }) => ({ kind, key })),
  );
}

/** The columns of these rows are called as the elements are. */
function searched({ patient_name, patient_identifier, patient_telecom }: Children): SearchedPatient {
  return {
    names: (patient_name ?? []) as SearchedPatient['names'],
    identifiers: (patient_identifier ?? []) as SearchedPatient['identifiers'],
    telecoms: (patient_telecom ?? []) as SearchedPatient['telecoms'],
  };
}
