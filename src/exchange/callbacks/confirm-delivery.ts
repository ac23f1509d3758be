/** Takes what an exchange says of a delivery. Contract: EXC-39, EXC-40, EXC-43. */
import { hash, randomUUIDv7 } from 'node:crypto';
import { foldText } from '../../clinical/resources/search-key.ts';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { noteSecretUse } from '../connections/connection-secret.store.ts';
import { exchangeError, notOfConnection } from '../errors.ts';
import { assignIdentifier } from './assigned-identifier.store.ts';
import type { Authenticated } from './authenticate-callback.ts';
import type { Confirmation, Confirmed } from './callback.schema.ts';
import { type CallbackRecord, deliveredPatient, insertCallback } from './callback.store.ts';

export interface ConfirmContext {
  body: Uint8Array;
  now: Date;
  correlationId: string;
}

/**
 * Record a confirmation and the id that it assigns. Throws 404 for a delivery that is not this connection's, and 409
 * when another id is assigned already; the callback is then kept for review and nothing is overwritten.
 */
export async function confirmDelivery(
  db: Pool,
  from: Authenticated,
  confirmation: Confirmation,
  context: ConfirmContext,
): Promise<Confirmed> {
  const bodyDigest = hash('sha256', context.body, 'buffer');
  // Shown on terminals: an id that is none may hold anything.
  const named = isUuid(confirmation.deliveryId) ? ` ${confirmation.deliveryId}` : '';
  const use = { secretId: from.secretId, at: context.now, purpose: `callback${named}` };
  await noteSecretUse(db, from.key, use);
  const said = await transaction(db, async (client) => {
    const record = await apply(client, from, { confirmation, context });
    await insertCallback(client, from.key, { ...record, bodyDigest });
    return record;
  });
  if (said.outcome === 'conflict') throw exchangeError('assigned_id_conflict');
  return { deliveryId: said.deliveryId, status: said.status, assignedId: said.assignedId };
}

async function apply(
  client: Client,
  { key, connection }: Authenticated,
  { confirmation, context }: { confirmation: Confirmation; context: ConfirmContext },
): Promise<CallbackRecord> {
  const { status, assignedId = null, message = null } = confirmation;
  // As it is stored, so that a repeat is answered the same.
  const deliveryId = confirmation.deliveryId.toLowerCase();
  const delivery = isUuid(deliveryId) ? await deliveredPatient(client, key, deliveryId) : undefined;
  if (delivery === undefined) throw notOfConnection();
  const record = {
    id: randomUUIDv7(),
    deliveryId,
    ...delivery,
    status,
    assignedId,
    message,
    receivedAt: context.now,
    correlationId: context.correlationId,
  };
  if (status === 'rejected' || assignedId === null) return { ...record, outcome: 'applied' };
  const standing = await assignIdentifier(client, key, {
    patientId: delivery.patientId,
    connectionId: key.connectionId,
    system: connection.identifierSystem,
    value: assignedId,
    searchKey: foldText(assignedId),
    assigner: connection.name,
    assignedAt: context.now,
  });
  return { ...record, outcome: standing.value === assignedId ? 'applied' : 'conflict' };
}
