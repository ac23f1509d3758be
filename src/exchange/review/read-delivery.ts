/** One delivery of a facility: what became of it, and its payload. */
import type { Pool } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess, type Reader } from '../../privacy/authorise-access.ts';
import { notFound } from '../../tenancy/errors.ts';
import { exchangeError } from '../errors.ts';
import type { DeliveryDetail } from './delivery.schema.ts';
import { readDelivery, readPayload } from './delivery.store.ts';
import type { Review } from './trace-shown.ts';

export interface ReadDependencies {
  db: Pool;
  accessLog: AccessLog;
}

export async function readFacilityDelivery(
  { db, accessLog }: ReadDependencies,
  reader: Reader,
  id: string,
): Promise<DeliveryDetail> {
  const found = isUuid(id) ? await readDelivery(db, reader.scope, id) : undefined;
  return authorised(accessLog, reader, { action: 'delivery.read', found });
}

/** The envelope, byte for byte as it is sent. Throws 410 when retention has removed it. */
export async function readDeliveryPayload(
  { db, accessLog }: ReadDependencies,
  reader: Reader,
  id: string,
): Promise<string> {
  const found = isUuid(id) ? await readPayload(db, reader.scope, id) : undefined;
  const { body } = await authorised(accessLog, reader, { action: 'patient.delivery-payload.read', found });
  if (body === null) throw exchangeError('payload_removed');
  return body;
}

/** What was found, as an access to the patient's record. Throws 404 when it is nothing, 403 for a refused purpose. */
async function authorised<Found extends { patientId: string; refusedPurposes: string[] }>(
  accessLog: AccessLog,
  reader: Reader,
  { action, found }: { action: Review['action']; found: Found | undefined },
): Promise<Found> {
  if (found === undefined) throw notFound('The delivery');
  const { patientId, refusedPurposes } = found;
  const record = { resourceType: 'Patient', resourceId: patientId } as const;
  await authoriseAccess(accessLog, reader, { patientId, refusedPurposes, action, ...record });
  return found;
}
