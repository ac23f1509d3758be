/** GET /investigations/lab/orders/<lab_order_id>/clinical/fhir. Contract: FETCH-1. */

import {
  CollectionSchema,
  JSON_TEXT,
  ObservationSummarySchema,
  OrderSummarySchema,
  ReportSummarySchema,
} from '../../clinical/fetch/clinical.schema.ts';
import { ORDER_ID } from '../../clinical/fetch/fetched-examples.ts';
import type { FetchKind } from '../../clinical/fetch/read-resource.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';

export function fetchLabOrderRoute(fetchOrder: FetchKind['fetch']): Route<Access> {
  return facilityRoute(
    { permissions: ['investigations.lab.list'], module: 'lab', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'fetchLabOrder',
        summary: 'Fetch a laboratory order, its results and its reports as FHIR',
        description:
          'The answer has the ServiceRequest, one Observation for each result, and the DiagnosticReports. The summary of each resource is made from the resource.',
        tag: 'Investigations',
      },
      params: Type.Object({ orderId: Type.String({ description: 'UUID of the order.' }) }),
      responses: {
        200: {
          description: 'The order.',
          schema: named(
            'LabOrder',
            Type.Object({
              orderId: Type.String({ examples: [ORDER_ID] }),
              bundle: CollectionSchema,
              orders: Type.Array(OrderSummarySchema),
              observations: Type.Array(ObservationSummarySchema),
              reports: Type.Array(ReportSummarySchema),
            }),
          ),
        },
        422: { description: 'The record is too large for one answer.' },
      },
      handle: async ({ params }, context) => ({
        contentType: JSON_TEXT,
        body: await fetchOrder(params.orderId, context),
      }),
    },
  );
}
