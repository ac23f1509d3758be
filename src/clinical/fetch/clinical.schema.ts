/**
 * The answers of "Fetch as FHIR" and of the lists in the OpenAPI document (docs/lab.md).
 * Contract: FETCH-4.
 */

import Type, { type TSchema } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import { RESOURCE_EXAMPLES } from './fetched-examples.ts';

/** A FHIR R4 resource of one type; FHIR's own schema says what is in it. */
export function resource(resourceType: string) {
  return Type.Object(
    { resourceType: Type.Literal(resourceType), id: Type.String() },
    {
      title: resourceType,
      additionalProperties: true,
      description: `FHIR R4 ${resourceType}: authoritative, to be used as it is.`,
      examples: [RESOURCE_EXAMPLES[resourceType]],
    },
  );
}

function summary(resourceType: string, members: Record<string, TSchema>) {
  return Type.Object(
    {
      localId: Type.String(),
      resourceType: Type.Literal(resourceType),
      ...members,
      resource: resource(resourceType),
    },
    { title: `${resourceType}Summary` },
  );
}

export const CollectionSchema = named(
  'FetchedBundle',
  Type.Object(
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
  ),
);

/** `code` and `codeSystem` of a summary. */
export const CODE_SCHEMAS = {
  code: Type.String({
    description:
      'The LOINC code; where no map leads to one, the local code; for a code that is text alone, the text.',
  }),
  codeSystem: Type.Optional(
    Type.String({
      description:
        'The system of `code`: `http://loinc.org`, or that of the local code. Absent where the source names none: then `code` is no LOINC code.',
    }),
  ),
};

export const OrderSummarySchema = summary('ServiceRequest', {
  status: Type.String({ description: 'FHIR status of the order.' }),
  ...CODE_SCHEMAS,
});

export const ObservationSummarySchema = summary('Observation', {
  ...CODE_SCHEMAS,
  occurredAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'ISO 8601 in UTC. Of a day it is midnight at the facility. Absent where the source gave no time, or only a month or a year.',
    }),
  ),
  occurredOn: Type.Optional(
    Type.String({
      description:
        'The date as the source wrote it, where it gave no time of day: a day, a month or a year (`2024-03`).',
    }),
  ),
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
  ...PAGE_PARAMETERS,
});

/** The bytes of a fetch are written already. */
export const JSON_TEXT = 'application/json; charset=utf-8';
