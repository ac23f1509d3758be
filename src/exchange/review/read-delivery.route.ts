/**
 * GET /exchange/deliveries/<id> with every attempt, and GET …/payload, which needs a permission of its own.
 * Contract: EXC-33.
 */
import type { Route } from '../../platform/http/route.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { DeliveryDetailSchema, DeliveryParams, EnvelopeSchema } from './delivery.schema.ts';
import { type ReadDependencies, readDeliveryPayload, readReviewedDelivery } from './read-delivery.ts';

export function readDeliveryRoute(deps: ReadDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.read'], module: 'exchange', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readDelivery',
        summary: 'Read one delivery with every attempt and decision',
        description: "The service writes this call to the patient's access log.",
        tag: 'Exchange',
      },
      params: DeliveryParams,
      responses: { 200: { description: 'The delivery, without its payload.', schema: DeliveryDetailSchema } },
      handle: async ({ params }, context) => ({
        body: await readReviewedDelivery(deps, context, params.deliveryId),
      }),
    },
  );
}

export function readDeliveryPayloadRoute(deps: ReadDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.payload'], module: 'exchange', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readDeliveryPayload',
        summary: 'Read the envelope of a delivery, as it is sent',
        description: "The service writes this call to the patient's access log.",
        tag: 'Exchange',
      },
      params: DeliveryParams,
      responses: {
        200: { description: 'The envelope.', schema: EnvelopeSchema },
        410: {
          description: 'The payload was removed. Payloads are kept for a limited time after the delivery.',
        },
      },
      handle: async ({ params }, context) => ({
        body: await readDeliveryPayload(deps, context, params.deliveryId),
      }),
    },
  );
}
