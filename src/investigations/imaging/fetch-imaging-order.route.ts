/** GET /investigations/imaging/orders/<imaging_order_id>/clinical/fhir. Contract: FETCH-2. */

import {
  CollectionSchema,
  JSON_TEXT,
  OrderSummarySchema,
  ReportSummarySchema,
} from '../../clinical/fetch/clinical.schema.ts';
import { ORDER_ID } from '../../clinical/fetch/fetched-examples.ts';
import type { FetchKind } from '../../clinical/fetch/read-resource.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';

export function fetchImagingOrderRoute(fetchOrder: FetchKind['fetch']): Route<Access> {
  return facilityRoute(
    { permissions: ['investigations.imaging.list'], module: 'imaging', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'fetchImagingOrder',
        summary: 'Fetch an imaging order and its reports as FHIR',
        description:
          'The answer has the ServiceRequest and its DiagnosticReports. The ImagingStudies and their findings are in the Bundle only.',
        tag: 'Investigations',
      },
      params: Type.Object({ orderId: Type.String({ description: 'UUID of the order.' }) }),
      responses: {
        200: {
          description: 'The order.',
          schema: named(
            'ImagingOrder',
            Type.Object({
              orderId: Type.String({ examples: [ORDER_ID] }),
              bundle: CollectionSchema,
              orders: Type.Array(OrderSummarySchema),
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
