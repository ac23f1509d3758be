/** SQL of callbacks: who may call, which delivery is meant, and what was said before. Contract: EXC-41. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';

export interface CallbackConnection {
  name: string;
  callbackHeader: string;
  identifierSystem: string;
}

/** An enabled connection, as far as a callback concerns it. */
export async function callbackConnection(
  db: Queryable,
  key: ConnectionKey,
): Promise<CallbackConnection | undefined> {
  const { rows } = await db.query<CallbackConnection>({
    name: 'exchange-callback-connection',
    text: `
      select name, callback_header as "callbackHeader", identifier_system as "identifierSystem"
      from exchange_connection
      where organisation_id = $1
        and id = $2
        and disabled_at is null`,
    values: [key.organisationId, key.connectionId],
  });
  return rows[0];
}

export interface CallbackRecord {
  id: string;
  deliveryId: string;
  patientId: string;
  facilityId: string;
  status: 'accepted' | 'rejected';
  assignedId: string | null;
  message: string | null;
  outcome: 'applied' | 'conflict';
  receivedAt: Date;
  correlationId: string;
}

/** Bytes that are recorded already stay as they are: what is said again has the same effect, and so the same answer. */
export async function insertCallback(
  db: Queryable,
  key: ConnectionKey,
  { bodyDigest, ...record }: CallbackRecord & { bodyDigest: Buffer },
): Promise<void> {
  await db.query({
    name: 'exchange-callback-insert',
    text: `
      insert into exchange_callback (organisation_id, connection_id, body_digest, id, delivery_id, patient_id,
        facility_id, status, assigned_id, message, outcome, received_at, correlation_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      on conflict (organisation_id, connection_id, body_digest) do nothing`,
    values: [
      key.organisationId,
      key.connectionId,
      bodyDigest,
      record.id,
      record.deliveryId,
      record.patientId,
      record.facilityId,
      record.status,
      record.assignedId,
      record.message,
      record.outcome,
      record.receivedAt,
      record.correlationId,
    ],
  });
}

/**
 * Whose delivery it is; undefined when it is not one of this connection. Of a delivery that retention has removed, the
 * callbacks about it know.
 */
export async function deliveredPatient(
  db: Queryable,
  key: ConnectionKey,
  deliveryId: string,
): Promise<{ patientId: string; facilityId: string } | undefined> {
  const { rows } = await db.query<Pick<CallbackRecord, 'patientId' | 'facilityId'>>({
    name: 'exchange-delivered-patient',
    text: `
      select d.patient_id as "patientId", d.facility_id as "facilityId"
      from ${rowsByIndex('exchange_delivery', 'd', { column: 'id', value: '$3::uuid' })} d
      where d.connection_id = $2
      union all
      select c.patient_id, c.facility_id
      from ${rowsByIndex('exchange_callback', 'c', { column: 'delivery_id', value: '$3::uuid' })} c
      where c.connection_id = $2
      limit 1`,
    values: [key.organisationId, key.connectionId, deliveryId],
  });
  return rows[0];
}

export interface ListedCallback extends CallbackRecord {
  organisationId: string;
  /** Of the patient. */
  refusedPurposes: string[];
  connectionId: string;
}

/** Callbacks of a facility, newest first. */
export async function listCallbacks(
  db: Queryable,
  { organisationId, facilityId }: Omit<FacilityScope, 'timeZone'>,
  filter: Slice<readonly [id: string]> & {
    connectionId?: string | undefined;
    outcome?: string | undefined;
    status?: string | undefined;
  },
): Promise<ListedCallback[]> {
  const { rows } = await db.query<ListedCallback>({
    text: `
      select organisation_id as "organisationId", id, connection_id as "connectionId", delivery_id as "deliveryId",
        patient_id as "patientId", facility_id as "facilityId", status, assigned_id as "assignedId", message, outcome,
        received_at as "receivedAt", correlation_id as "correlationId", (
          select refused_purposes
          from patient p
          where p.organisation_id = $1
            and p.id = c.patient_id
        ) as "refusedPurposes"
      from exchange_callback c
      where organisation_id = $1
        and facility_id = $2
        and ($3::uuid is null or connection_id = $3)
        and ($4::text is null or outcome = $4)
        and ($5::text is null or status = $5)
        and ($6::uuid is null or id < $6)
      order by id desc
      limit $7`,
    values: [
      organisationId,
      facilityId,
      filter.connectionId,
      filter.outcome,
      filter.status,
      filter.after?.[0],
      filter.limit,
    ],
  });
  return rows;
}
