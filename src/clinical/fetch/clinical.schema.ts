/**
 * The answers of "Fetch as FHIR" and of the lists in the OpenAPI document (docs/lab.md).
 * Contract: FETCH-4.
 */

import type { TSchema } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import { Type } from '../../platform/json-schema.ts';
import { LOINC } from '../../terminology/lookup/code-systems.ts';
import { RESOURCE_EXAMPLES } from './fetched-examples.ts';

/** A FHIR R4 resource of one type; FHIR's own schema says what is in it. */
export function resource(resourceType: string) {
  return Type.Object(
    { resourceType: Type.Literal(resourceType), id: Type.String() },
    {
      title: resourceType,
      additionalProperties: true,
      description: `FHIR R4 ${resourceType}.`,
      examples: [RESOURCE_EXAMPLES[resourceType]],
    },
  );
}

function summary(resourceType: string, members: Record<string, TSchema>) {
  return Type.Object(
    {
      localId: Type.String({ examples: [RESOURCE_EXAMPLES[resourceType]?.id] }),
      resourceType: Type.Literal(resourceType),
      ...members,
      resource: resource(resourceType),
    },
    { title: `${resourceType}Summary` },
  );
}

const BundledResource = named(
  'BundledResource',
  Type.Object(
    {
      resourceType: Type.String({ examples: ['Observation'] }),
      id: Type.String({ examples: [RESOURCE_EXAMPLES.Observation?.id] }),
    },
    { additionalProperties: true },
  ),
);

export const CollectionSchema = named(
  'FetchedBundle',
  Type.Object(
    {
      resourceType: Type.Literal('Bundle'),
      type: Type.Literal('collection'),
      entry: Type.Optional(
        Type.Array(
          named(
            'FetchedBundleEntry',
            Type.Object({
              fullUrl: Type.String({
                examples: [
                  `https://records.example.org/api/v1/fhir/Observation/${RESOURCE_EXAMPLES.Observation?.id}`,
                ],
              }),
              resource: BundledResource,
            }),
          ),
        ),
      ),
    },
    {
      description:
        'FHIR R4 Bundle of type collection. Use its resources as they are: they are complete. What stands beside a resource in an answer is only a summary of it.',
    },
  ),
);

/** `code` and `codeSystem` of a summary, and of an order in a list. */
export const CODE_SCHEMAS = {
  code: Type.String({
    examples: ['718-7'],
    description:
      'The LOINC code. If no terminology map has one, the local code. If the source gave only text, the text.',
  }),
  codeSystem: Type.Optional(
    Type.String({
      examples: [LOINC],
      description:
        'The system of `code`: `http://loinc.org`, or the system of the local code. Absent if the source gave no system; then `code` is not a LOINC code.',
    }),
  ),
};

export const OrderSummarySchema = summary('ServiceRequest', {
  status: Type.String({ description: 'FHIR status of the order.', examples: ['completed'] }),
  ...CODE_SCHEMAS,
});

export const ObservationSummarySchema = summary('Observation', {
  ...CODE_SCHEMAS,
  occurredAt: Type.Optional(
    Type.String({
      format: 'date-time',
      examples: ['2026-01-10T08:15:00.000Z'],
      description:
        'Time in UTC (ISO 8601). If the source gave only a day, midnight at the facility. Absent if the source gave no time, or only a month or a year.',
    }),
  ),
  occurredOn: Type.Optional(
    Type.String({
      examples: ['2026-01-10'],
      description:
        'The date as the source wrote it, if it gave no time of day: a day, a month or a year (`2024-03`).',
    }),
  ),
});

export const ReportSummarySchema = summary('DiagnosticReport', {
  conclusion: Type.String({ description: 'Empty if the report has none.', examples: ['Mild anaemia.'] }),
});

/** The query of the lists of orders and of vital sets. */
export const LIST_QUERY = Type.Object({
  patient: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Patient id, alone or as Patient/<patient_id>.',
  }),
  ...PAGE_PARAMETERS,
});

/** The content type of a fetch, whose use case answers bytes. */
export const JSON_TEXT = 'application/json; charset=utf-8';
