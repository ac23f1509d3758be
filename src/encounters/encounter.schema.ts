/** The Encounter in the OpenAPI document. */

import {
  CodeableConceptSchema,
  CodingSchema,
  IDENTIFIER_MEMBERS,
  PeriodSchema,
  ReferenceSchema,
} from '../clinical/fetch/data-types.schema.ts';
import { ENCOUNTER_ID as ID, ORGANISATION_ID, PATIENT_ID } from '../clinical/fetch/fetched-examples.ts';
import { ENCOUNTER_STATUSES } from '../clinical/resources/encounter.fhir.ts';
import { named } from '../platform/http/named-schema.ts';
import { Choice } from '../platform/http/schema.ts';
import { Type } from '../platform/json-schema.ts';

const Status = Choice(ENCOUNTER_STATUSES);

const SYSTEMS = 'http://terminology.hl7.org/CodeSystem';
const COLLECTION = 'https://records.example.org/api/v1/encounters/fhir/Encounter';

const ENCOUNTER_EXAMPLE = {
  resourceType: 'Encounter',
  id: ID,
  meta: { versionId: '1', lastUpdated: '2026-01-10T09:02:11.000Z' },
  identifier: [{ system: `urn:uuid:${ORGANISATION_ID}`, value: ID }],
  status: 'finished',
  class: { system: `${SYSTEMS}/v3-ActCode`, code: 'AMB', display: 'ambulatory' },
  subject: { reference: `Patient/${PATIENT_ID}` },
  period: { start: '2026-01-10T08:00:00Z', end: '2026-01-10T09:00:00Z' },
  serviceProvider: { reference: `Organization/${ORGANISATION_ID}` },
};

export const EncounterSchema = named(
  'Encounter',
  Type.Object(
    {
      resourceType: Type.Literal('Encounter'),
      id: Type.String(),
      meta: named(
        'EncounterMeta',
        Type.Object({ versionId: Type.String(), lastUpdated: Type.String({ format: 'date-time' }) }),
      ),
      identifier: Type.Array(named('EncounterIdentifier', Type.Object(IDENTIFIER_MEMBERS))),
      status: Status,
      class: named(
        'EncounterClass',
        Type.Object(CodingSchema.properties, { description: 'HL7 v3 ActCode.' }),
      ),
      type: Type.Optional(Type.Array(CodeableConceptSchema)),
      serviceType: Type.Optional(CodeableConceptSchema),
      priority: Type.Optional(CodeableConceptSchema),
      subject: named(
        'EncounterSubject',
        Type.Object({ reference: Type.String({ description: 'Patient/<patient_id>' }) }),
      ),
      participant: Type.Optional(
        Type.Array(
          named(
            'EncounterParticipant',
            Type.Object({
              type: Type.Optional(Type.Array(CodeableConceptSchema)),
              period: Type.Optional(PeriodSchema),
              individual: Type.Optional(ReferenceSchema),
            }),
          ),
        ),
      ),
      period: Type.Optional(
        named(
          'EncounterPeriod',
          Type.Object(
            {
              ...PeriodSchema.properties,
              _end: Type.Optional(
                named(
                  'UnknownEnd',
                  Type.Object(
                    {
                      extension: Type.Array(
                        named(
                          'UnknownEndExtension',
                          Type.Object({ url: Type.String(), valueCode: Type.String() }),
                        ),
                      ),
                    },
                    {
                      description:
                        'Present when a finished visit has no known end: the extension data-absent-reason with the value `unknown`.',
                    },
                  ),
                ),
              ),
            },
            { description: 'There is no end while the visit is open. Dates are as the source wrote them.' },
          ),
        ),
      ),
      reasonCode: Type.Optional(Type.Array(CodeableConceptSchema)),
      length: Type.Optional(Type.Object({}, { description: 'A Duration.' })),
      hospitalization: Type.Optional(
        named(
          'EncounterHospitalization',
          Type.Object({
            preAdmissionIdentifier: Type.Optional(Type.Object({})),
            origin: Type.Optional(ReferenceSchema),
            admitSource: Type.Optional(CodeableConceptSchema),
            reAdmission: Type.Optional(CodeableConceptSchema),
            dietPreference: Type.Optional(Type.Array(CodeableConceptSchema)),
            specialCourtesy: Type.Optional(Type.Array(CodeableConceptSchema)),
            specialArrangement: Type.Optional(Type.Array(CodeableConceptSchema)),
            destination: Type.Optional(ReferenceSchema),
            dischargeDisposition: Type.Optional(CodeableConceptSchema),
          }),
        ),
      ),
      location: Type.Optional(
        Type.Array(
          named(
            'EncounterLocation',
            Type.Object({
              location: ReferenceSchema,
              status: Type.Optional(Type.String()),
              physicalType: Type.Optional(CodeableConceptSchema),
              period: Type.Optional(PeriodSchema),
            }),
          ),
        ),
      ),
      serviceProvider: named(
        'EncounterServiceProvider',
        Type.Object({
          reference: Type.String({ description: 'Organization/<organization_id>' }),
          display: Type.Optional(Type.String()),
        }),
      ),
      partOf: Type.Optional(ReferenceSchema),
    },
    { description: 'FHIR R4 Encounter.', examples: [ENCOUNTER_EXAMPLE] },
  ),
);

/** What there is to say about a search: that its patient was replaced by another one. */
const SearchOutcome = named('SearchOutcome', Type.Object({ resourceType: Type.Literal('OperationOutcome') }));

export const EncounterSearchsetSchema = named(
  'EncounterSearchset',
  Type.Object(
    {
      resourceType: Type.Literal('Bundle'),
      type: Type.Literal('searchset'),
      link: Type.Array(
        named(
          'BundleLink',
          Type.Object({
            relation: Type.String({
              description: '`self`, and `next` if there are more.',
              examples: ['self'],
            }),
            url: Type.String({
              examples: [`${COLLECTION}?patient=${PATIENT_ID}&purposeOfUse=TREATMENT&_count=20`],
            }),
          }),
        ),
      ),
      entry: Type.Optional(
        Type.Array(
          named(
            'EncounterSearchsetEntry',
            Type.Object({
              fullUrl: Type.String({ examples: [`${COLLECTION}/${ID}`] }),
              resource: Type.Union([EncounterSchema, SearchOutcome]),
              search: named(
                'SearchsetEntrySearch',
                Type.Object({
                  mode: Choice(
                    ['match', 'outcome'],
                    '`outcome`: the last entry is an OperationOutcome about the search.',
                  ),
                }),
              ),
            }),
          ),
        ),
      ),
    },
    { description: 'FHIR R4 Bundle of type searchset, newest encounter first, without total.' },
  ),
);
