/** The Encounter in the OpenAPI document (specification, "Encounter"). */
import Type from 'typebox';

export const ENCOUNTER_STATUSES = [
  'planned',
  'in-progress',
  'finished',
  'cancelled',
  'entered-in-error',
] as const;

const Status = Type.Unsafe<(typeof ENCOUNTER_STATUSES)[number]>({ type: 'string', enum: ENCOUNTER_STATUSES });
const Reference = Type.Object({
  reference: Type.Optional(Type.String()),
  display: Type.Optional(Type.String()),
});
const Coding = Type.Object({
  system: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  display: Type.Optional(Type.String()),
});
const CodeableConcept = Type.Object({
  coding: Type.Optional(Type.Array(Coding)),
  text: Type.Optional(Type.String()),
});
const Period = Type.Object({ start: Type.Optional(Type.String()), end: Type.Optional(Type.String()) });

export const EncounterSchema = Type.Object(
  {
    resourceType: Type.Literal('Encounter'),
    id: Type.String(),
    meta: Type.Object({ versionId: Type.String(), lastUpdated: Type.String() }),
    identifier: Type.Array(
      Type.Object({ system: Type.Optional(Type.String()), value: Type.Optional(Type.String()) }),
    ),
    status: Status,
    class: Type.Object(Coding.properties, { description: 'HL7 v3 ActCode.' }),
    type: Type.Optional(Type.Array(CodeableConcept)),
    priority: Type.Optional(CodeableConcept),
    subject: Type.Object({ reference: Type.String({ description: 'Patient/<patient_id>' }) }),
    participant: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.Optional(Type.Array(CodeableConcept)),
          period: Type.Optional(Period),
          individual: Type.Optional(Reference),
        }),
      ),
    ),
    period: Type.Optional(
      Type.Object(
        {
          ...Period.properties,
          _end: Type.Optional(
            Type.Object(
              { extension: Type.Array(Type.Object({ url: Type.String(), valueCode: Type.String() })) },
              {
                description:
                  'In place of the end of a finished visit whose source gave none: the extension data-absent-reason, `unknown`.',
              },
            ),
          ),
        },
        { description: 'No end while the visit is open. Dates are as the source wrote them.' },
      ),
    ),
    reasonCode: Type.Optional(Type.Array(CodeableConcept)),
    hospitalization: Type.Optional(Type.Object({ dischargeDisposition: CodeableConcept })),
    location: Type.Optional(
      Type.Array(
        Type.Object({
          location: Reference,
          status: Type.Optional(Type.String()),
          period: Type.Optional(Period),
        }),
      ),
    ),
    serviceProvider: Type.Object({
      reference: Type.String({ description: 'Organization/<organization_id>' }),
      display: Type.Optional(Type.String()),
    }),
  },
  { description: 'FHIR R4 Encounter.' },
);

export const EncounterSearchsetSchema = Type.Object(
  {
    resourceType: Type.Literal('Bundle'),
    type: Type.Literal('searchset'),
    link: Type.Array(
      Type.Object({
        relation: Type.String({ description: '`self`, and `next` while there are more.' }),
        url: Type.String(),
      }),
    ),
    entry: Type.Optional(
      Type.Array(
        Type.Object({
          fullUrl: Type.String(),
          resource: EncounterSchema,
          search: Type.Object({ mode: Type.Literal('match') }),
        }),
      ),
    ),
  },
  { description: 'FHIR R4 Bundle of type searchset, newest encounter first, without total.' },
);
