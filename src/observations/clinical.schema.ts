/** The answers of "Fetch as FHIR" and of the lists in the OpenAPI document (design 3.4). */
import Type, { type TSchema } from 'typebox';

/** A FHIR R4 resource of one type; FHIR's own schema says what is in it. */
export function resource(resourceType: string) {
  return Type.Object(
    { resourceType: Type.Literal(resourceType), id: Type.String() },
    {
      additionalProperties: true,
      description: `FHIR R4 ${resourceType}: authoritative, to be used as it is.`,
    },
  );
}

function summary(resourceType: string, members: Record<string, TSchema>) {
  return Type.Object({
    localId: Type.String(),
    resourceType: Type.Literal(resourceType),
    ...members,
    resource: resource(resourceType),
  });
}

export const CollectionSchema = Type.Object(
  {
    resourceType: Type.Literal('Bundle'),
    type: Type.Literal('collection'),
    entry: Type.Optional(
      Type.Array(
        Type.Object({
          fullUrl: Type.String(),
          resource: Type.Object(
            { resourceType: Type.String(), id: Type.String() },
            { additionalProperties: true },
          ),
        }),
      ),
    ),
  },
  { description: 'FHIR R4 Bundle of type collection.' },
);

export const OrderSummarySchema = summary('ServiceRequest', {
  status: Type.String({ description: 'FHIR status of the order.' }),
  code: Type.String({ description: 'The LOINC code; where no map leads to one, the local code.' }),
});

export const ObservationSummarySchema = summary('Observation', {
  code: Type.String({ description: 'The LOINC code; where no map leads to one, the local code.' }),
  occurredAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'ISO 8601 in UTC; null where the source gave no time.',
  }),
});

export const ReportSummarySchema = summary('DiagnosticReport', {
  conclusion: Type.String({ description: 'Empty where the report has none.' }),
});

/** The query of every list. */
export const LIST_QUERY = Type.Object({
  patient: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Patient id, bare or as Patient/<patient_id>.',
  }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Opaque: nextCursor of the previous page.' }),
  ),
});

/** One page of a list. */
export function pageSchema(item: TSchema) {
  return Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'null on the last page.' }),
  });
}

/** The bytes of a fetch are written already. */
export const JSON_TEXT = 'application/json; charset=utf-8';
