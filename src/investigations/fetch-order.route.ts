/**
 * GET /investigations/lab/orders/<lab_order_id>/clinical/fhir and /investigations/imaging/orders/<imaging_order_id>/clinical/fhir.
 * Contract: FETCH-1, FETCH-2.
 */
import {
  CollectionSchema,
  JSON_TEXT,
  ObservationSummarySchema,
  OrderSummarySchema,
  ReportSummarySchema,
} from '../clinical/fetch/clinical.schema.ts';
import { ORDER_ID } from '../clinical/fetch/fetched-examples.ts';
import type { FetchKind } from '../clinical/fetch/read-resource.ts';
import { named } from '../platform/http/named-schema.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import type { FetchedDiscipline } from './investigation.ts';

const FETCHES = {
  laboratory: {
    operationId: 'fetchLabOrder',
    summary: 'Fetch a laboratory order, its results and its reports as FHIR',
    description:
      'The answer has the ServiceRequest, one Observation for each result, and the DiagnosticReports. The summary of each resource is made from the resource.',
    schema: 'LabOrder',
    results: { observations: Type.Array(ObservationSummarySchema) },
  },
  imaging: {
    operationId: 'fetchImagingOrder',
    summary: 'Fetch an imaging order and its reports as FHIR',
    description:
      'The answer has the ServiceRequest and its DiagnosticReports. The ImagingStudies and their findings are in the Bundle only.',
    schema: 'ImagingOrder',
    results: {},
  },
};

export function fetchOrderRoute(
  { permission, module, fetch }: FetchKind,
  discipline: FetchedDiscipline,
): Route<Access> {
  const { schema, results, ...docs } = FETCHES[discipline];
  return facilityRoute(
    { permissions: [permission], module, purposeOfUse: 'default' },
    {
      docs: { ...docs, tag: 'Investigations' },
      params: Type.Object({ orderId: Type.String({ description: 'UUID of the order.' }) }),
      responses: {
        200: {
          description: 'The order.',
          schema: named(
            schema,
            Type.Object({
              orderId: Type.String({ examples: [ORDER_ID] }),
              bundle: CollectionSchema,
              orders: Type.Array(OrderSummarySchema),
              ...results,
              reports: Type.Array(ReportSummarySchema),
            }),
          ),
        },
        422: { description: 'The record is too large for one answer.' },
      },
      handle: async ({ params }, context) => ({
        contentType: JSON_TEXT,
        body: await fetch(params.orderId, context),
      }),
    },
  );
}
