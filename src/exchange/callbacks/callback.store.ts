/** SQL of callbacks: who may call, which delivery is meant, and what was said before. Contract: EXC-41. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
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
  const { rows } = await db.query<{ name: string; callback_header: string; identifier_system: string }>({
    name: 'exchange-callback-connection',
    text: `
      select name, callback_header, identifier_system
      from exchange_connection
      where organisation_id = $1
        and id = $2
        and disabled_at is null`,
    values: [key.organisationId, key.connectionId],
  });
  const row = rows[0];
  return row === undefined
    ? undefined
    : { name: row.name, callbackHeader: row.callback_header, identifierSystem: row.identifier_system };
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

/** What was answered to the same bytes before. */
export async function findCallback(
  db: Queryable,
  key: ConnectionKey,
  bodyDigest: Buffer,
): Promise<Pick<CallbackRecord, 'deliveryId' | 'status' | 'assignedId' | 'outcome'> | undefined> {
  const { rows } = await db.query<{
    delivery_id: string;
    status: CallbackRecord['status'];
    assigned_id: string | null;
    outcome: CallbackRecord['outcome'];
  }>({
    name: 'exchange-callback-find',
    text: `
      select delivery_id, status, assigned_id, outcome
      from exchange_callback
      where organisation_id = $1
        and connection_id = $2
        and body_digest = $3`,
    values: [key.organisationId, key.connectionId, bodyDigest],
  });
  const row = rows[0];
  return row === undefined
    ? undefined
    : { deliveryId: row.delivery_id, status: row.status, assignedId: row.assigned_id, outcome: row.outcome };
}

/** False when the same bytes are recorded already. */
export async function insertCallback(
  db: Queryable,
  key: ConnectionKey,
  { bodyDigest, ...record }: CallbackRecord & { bodyDigest: Buffer },
): Promise<boolean> {
  const { rowCount } = await db.query({
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
  return rowCount === 1;
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
  const { rows } = await db.query<{ patient_id: string; facility_id: string }>({
    name: 'exchange-delivered-patient',
    text: `
      select patient_id, facility_id
      from exchange_delivery
      where organisation_id = $1
        and id = $3
        and connection_id = $2
      union all
      select patient_id, facility_id
      from exchange_callback
      where organisation_id = $1
        and delivery_id = $3
        and connection_id = $2
      limit 1`,
    values: [key.organisationId, key.connectionId, deliveryId],
  });
  const row = rows[0];
  return row === undefined ? undefined : { patientId: row.patient_id, facilityId: row.facility_id };
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
  scope: OrganisationScope & { facilityId?: string },
  filter: Slice<readonly [id: string]> & {
    connectionId?: string | undefined;
    outcome?: string | undefined;
    status?: string | undefined;
  },
): Promise<ListedCallback[]> {
  const { rows } = await db.query<{
    id: string;
    connection_id: string;
    delivery_id: string;
    patient_id: string;
    facility_id: string;
    status: CallbackRecord['status'];
    assigned_id: string | null;
    message: string | null;
    outcome: CallbackRecord['outcome'];
    received_at: Date;
    correlation_id: string;
    refused_purposes: string[];
  }>({
    text: `
      select id, connection_id, delivery_id, patient_id, facility_id, status, assigned_id, message, outcome,
        received_at, correlation_id, (
          select refused_purposes
          from patient p
          where p.organisation_id = $1
            and p.id = c.patient_id
        ) as refused_purposes
      from exchange_callback c
      where organisation_id = $1
        and ($2::uuid is null or facility_id = $2)
        and ($3::uuid is null or connection_id = $3)
        and ($4::text is null or outcome = $4)
        and ($5::text is null or status = $5)
        and ($6::uuid is null or id < $6)
      order by id desc
      limit $7`,
    values: [
      scope.organisationId,
      scope.facilityId,
      filter.connectionId,
      filter.outcome,
      filter.status,
      filter.after?.[0],
      filter.limit,
    ],
  });
  return rows.map((row) => ({
    id: row.id,
    connectionId: row.connection_id,
    deliveryId: row.delivery_id,
    patientId: row.patient_id,
    facilityId: row.facility_id,
    status: row.status,
    assignedId: row.assigned_id,
    message: row.message,
    outcome: row.outcome,
    receivedAt: row.received_at,
    correlationId: row.correlation_id,
    organisationId: scope.organisationId,
    refusedPurposes: row.refused_purposes,
  }));
}
