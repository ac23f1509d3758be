/** One delivery: what became of it, and its payload. Contract: EXC-33. */
import type { Pool } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import { notFound } from '../../tenancy/errors.ts';
import { exchangeError } from '../errors.ts';
import { type DeliveryDetailView, deliveryDetailView } from './delivery.schema.ts';
import { readDelivery, readPayload } from './delivery.store.ts';
import { type AboutPatient, type Review, type Reviewer, requireShown, traceShown } from './trace-shown.ts';

export interface ReadDependencies {
  db: Pool;
  accessLog: AccessLog;
}

/**
 * Throws 404, and 403 when the patient refuses the purpose. The operator must find every delivery, and is shown such a
 * one without its patient (docs/adr/0053).
 */
export async function readReviewedDelivery(
  { db, accessLog }: ReadDependencies,
  reviewer: Reviewer,
  id: string,
): Promise<DeliveryDetailView> {
  const found = isUuid(id) ? await readDelivery(db, reviewer.scope, id) : undefined;
  const { item, mayShow } = await traced(accessLog, { ...reviewer, action: 'delivery.read' }, found);
  if (reviewer.scope.facilityId !== undefined) requireShown(mayShow);
  return deliveryDetailView(item, mayShow);
}

/** The envelope, byte for byte as it is sent. Throws 404, 403 for a refused purpose, and 410 when retention has removed it. */
export async function readDeliveryPayload(
  { db, accessLog }: ReadDependencies,
  reviewer: Reviewer,
  id: string,
): Promise<string> {
  const found = isUuid(id) ? await readPayload(db, reviewer.scope, id) : undefined;
  const review = { ...reviewer, action: 'patient.delivery-payload.read' } as const;
  const { item, mayShow } = await traced(accessLog, review, found);
  requireShown(mayShow);
  if (item.body === null) throw exchangeError('payload_removed');
  return item.body;
}

/** What was found, once the access is in the patient's log. Throws 404 when it is nothing. */
async function traced<Item extends AboutPatient>(
  accessLog: AccessLog,
  review: Review,
  item: Item | undefined,
): Promise<{ item: Item; mayShow: boolean }> {
  if (item === undefined) throw notFound('The delivery');
  const mayShow = await traceShown(accessLog, review, [item]);
  return { item, mayShow: mayShow(item) };
}
