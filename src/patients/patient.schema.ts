/**
 * The JSON shapes of a patient in answers: a summary in lists, all of it when one is read.
 * Contract: PAT-8.
 */

import {
  CodeableConceptSchema,
  IDENTIFIER_MEMBERS,
  PeriodSchema,
} from '../clinical/fetch/data-types.schema.ts';
import { PATIENT_ID } from '../clinical/fetch/fetched-examples.ts';
import { PurposeOfUseSchema } from '../fhir/purpose-of-use.ts';
import { named } from '../platform/http/named-schema.ts';
import { Choice, InstantText, Nullable, NullableText } from '../platform/http/schema.ts';
import { Type } from '../platform/json-schema.ts';

const Identifier = named(
  'Identifier',
  Type.Object({
    ...IDENTIFIER_MEMBERS,
    assigner: Type.Optional(
      named(
        'IdentifierAssigner',
        Type.Object(
          { display: Type.Optional(Type.String()) },
          {
            description:
              'Name of the exchange that assigned the identifier. Absent if it comes from the source.',
          },
        ),
      ),
    ),
  }),
);
const HumanName = named(
  'HumanName',
  Type.Object({
    use: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    family: Type.Optional(Type.String()),
    given: Type.Optional(Type.Array(Type.String())),
    prefix: Type.Optional(Type.Array(Type.String())),
    suffix: Type.Optional(Type.Array(Type.String())),
    period: Type.Optional(PeriodSchema),
  }),
);
const ContactPoint = named(
  'ContactPoint',
  Type.Object({
    system: Type.Optional(Type.String()),
    value: Type.Optional(Type.String()),
    use: Type.Optional(Type.String()),
    rank: Type.Optional(Type.Integer()),
  }),
);
const Address = named(
  'Address',
  Type.Object({
    use: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    line: Type.Optional(Type.Array(Type.String())),
    city: Type.Optional(Type.String()),
    district: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
    postalCode: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
  }),
);
const Gender = Choice(['male', 'female', 'other', 'unknown']);

const SUMMARY = {
  id: Type.String({ description: 'UUID of the patient.' }),
  name: NullableText('The official name, as one text to show.'),
  gender: Nullable(Gender, 'Administrative gender.'),
  birthDate: NullableText('A year, a month or a day.'),
  deceased: Type.Boolean(),
  identifiers: Type.Array(Identifier, {
    description:
      'The identifiers of the source, then those that exchanges assigned. The latter have an assigner.',
  }),
  replacedBy: NullableText('UUID of the patient into whom this one was merged.'),
  replaces: Type.Array(Type.String(), {
    description: 'UUIDs of patients that were merged into this one.',
  }),
};

const SUMMARY_EXAMPLE = {
  id: PATIENT_ID,
  name: 'Ada Okafor',
  gender: 'female',
  birthDate: '1994-06-27',
  deceased: false,
  identifiers: [{ use: 'usual', system: 'https://hospitals.example.org/patient-number', value: 'I-200075' }],
  replacedBy: null,
  replaces: [],
};
const NAME = { use: 'official', family: 'Okafor', given: ['Ada'] };
const PHONE = { system: 'phone', value: '+234 803 555 0112', use: 'mobile' };

export const PatientSummarySchema = named(
  'PatientSummary',
  Type.Object(SUMMARY, { examples: [SUMMARY_EXAMPLE] }),
);

export const PatientSchema = named(
  'PatientRecord',
  Type.Intersect(
    [
      PatientSummarySchema,
      Type.Object({
        active: Nullable(Type.Boolean(), 'true if the record is in use.'),
        deceasedDateTime: NullableText('When the patient died, if known.'),
        names: Type.Array(HumanName),
        telecoms: Type.Array(ContactPoint),
        addresses: Type.Array(Address),
        maritalStatus: Nullable(CodeableConceptSchema, 'Marital status.'),
        multipleBirth: Type.Union([Type.Boolean(), Type.Integer(), Type.Null()], {
          description: 'true or false for a multiple birth, or the birth order as a number.',
        }),
        communication: Type.Array(
          named(
            'PatientCommunication',
            Type.Object({ language: CodeableConceptSchema, preferred: Type.Optional(Type.Boolean()) }),
          ),
        ),
        contacts: Type.Array(
          named(
            'PatientContact',
            Type.Object({
              relationship: Type.Optional(Type.Array(CodeableConceptSchema)),
              name: Type.Optional(HumanName),
              telecom: Type.Optional(Type.Array(ContactPoint)),
              address: Type.Optional(Address),
              gender: Type.Optional(Type.String()),
              period: Type.Optional(PeriodSchema),
            }),
          ),
        ),
        refusedPurposes: Type.Array(PurposeOfUseSchema, {
          description: 'Purposes of use that the patient refuses.',
        }),
        version: Type.Integer(),
        updatedAt: InstantText('UTC instant of the last change.'),
      }),
    ],
    {
      examples: [
        {
          ...SUMMARY_EXAMPLE,
          active: true,
          deceasedDateTime: null,
          names: [NAME],
          telecoms: [PHONE],
          addresses: [],
          maritalStatus: null,
          multipleBirth: null,
          communication: [],
          contacts: [],
          refusedPurposes: ['RESEARCH'],
          version: 1,
          updatedAt: '2026-01-10T07:55:00.123456Z',
        },
      ],
    },
  ),
);

export const FhirPatientSchema = named(
  'Patient',
  Type.Object(
    { resourceType: Type.Literal('Patient'), id: Type.String() },
    {
      examples: [
        {
          resourceType: 'Patient',
          id: PATIENT_ID,
          meta: { versionId: '1', lastUpdated: '2026-01-10T07:55:00.123456Z' },
          identifier: SUMMARY_EXAMPLE.identifiers,
          active: true,
          name: [NAME],
          telecom: [PHONE],
          gender: 'female',
          birthDate: '1994-06-27',
        },
      ],
    },
  ),
);
