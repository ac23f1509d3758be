/** One delivery of a facility: what became of it, and its payload. */
import type { Pool } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess, type Reader } from '../../privacy/authorise-access.ts';
import { notFound } from '../../tenancy/errors.ts';
import { exchangeError } from '../errors.ts';
import type { DeliveryDetail } from './delivery.schema.ts';
import { readDelivery, readPayload } from './delivery.store.ts';

/** Its patient's access is traced. Throws 404 when it is not one of the facility, 403 for a refused purpose. */
export async function readFacilityDelivery(
  { db, accessLog }: { db: Pool; accessLog: AccessLog },
  reader: Reader,
  id: string,
): Promise<DeliveryDetail> {
  const found = isUuid(id) ? await readDelivery(db, reader.scope, id) : undefined;
  if (found === undefined) throw notFound('The delivery');
  const { patientId, refusedPurposes } = found;
  await authoriseAccess(accessLog, reader, {
    patientId,
    refusedPurposes,
    action: 'delivery.read',
    resourceType: 'Patient',
    resourceId: patientId,
  });
  return found;
}

/**
 * The envelope, byte for byte as it is sent. Reading it is an access to the patient's record. Throws 410 when retention
 * has removed it.
 */
export async function readDeliveryPayload(
  { db, accessLog }: { db: Pool; accessLog: AccessLog },
  reader: Reader,
  id: string,
): Promise<string> {
  const found = isUuid(id) ? await readPayload(db, reader.scope, id) : undefined;
  if (found === undefined) throw notFound('The delivery');
  const { patientId, refusedPurposes, body } = found;
  await authoriseAccess(accessLog, reader, {
    patientId,
    refusedPurposes,
    action: 'patient.delivery-payload.read',
    resourceType: 'Patient',
    resourceId: patientId,
  });
  if (body === null) throw exchangeError('payload_removed');
  return body;
}
