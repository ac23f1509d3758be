/** GET /exchange/deliveries/<id> with every attempt; its payload stands apart, behind a permission of its own. */
import type { Pool } from '../platform/db/database.ts';
import { notFound } from '../platform/http/errors.ts';
import type { Route } from '../platform/http/route.ts';
import type { AccessLog } from '../privacy/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../tenancy/access.ts';
import { isUuid } from '../tenancy/check-access.ts';
import { DeliveryDetailSchema, DeliveryParams, deliveryDetailView } from './delivery.schema.ts';
import { readDelivery, readPayload } from './delivery.store.ts';

export function readDeliveryRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.read'], module: 'exchange', purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'readDelivery',
        summary: 'One delivery with every attempt and decision',
        tag: 'Exchange',
      },
      params: DeliveryParams,
      responses: { 200: { description: 'The delivery, without its payload.', schema: DeliveryDetailSchema } },
      handle: async ({ params: { deliveryId } }, { scope }) => {
        const found = isUuid(deliveryId) ? await readDelivery(deps.db, scope, deliveryId) : undefined;
        if (found === undefined) throw notFound('The delivery');
        return { body: deliveryDetailView(found) };
      },
    },
  );
}

/** The envelope, byte for byte as it was sent. Reading it is an access to the patient's record. */
export function readDeliveryPayloadRoute(deps: { db: Pool; accessLog: AccessLog }): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.payload'], module: 'exchange', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readDeliveryPayload',
        summary: 'The envelope of a delivery, as it is sent',
        description: "Written to the patient's access log.",
        tag: 'Exchange',
      },
      params: DeliveryParams,
      responses: { 200: { description: 'The envelope.' } },
      handle: async ({ params: { deliveryId } }, context) => {
        const found = isUuid(deliveryId) ? await readPayload(deps.db, context.scope, deliveryId) : undefined;
        if (found === undefined) throw notFound('The delivery');
        const { patientId, refusedPurposes, body } = found;
        await authoriseAccess(deps.accessLog, context, {
          patientId,
          refusedPurposes,
          action: 'patient.delivery-payload.read',
          resourceType: 'Patient',
          resourceId: patientId,
        });
        return { body };
      },
    },
  );
}
