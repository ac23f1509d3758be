/** Patients, connections and changes for tests of the exchange. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { CreatedConnection } from '../../src/exchange/connections/connection.schema.ts';
import { BY_OPERATOR } from '../../src/exchange/connections/connection.ts';
import { createConnection, type NewConnection } from '../../src/exchange/connections/create-connection.ts';
import { enqueuePatientChanges } from '../../src/exchange/queue/enqueue-patient-changes.ts';
import { DELIVERY, type DeliverySettings } from '../../src/exchange/worker/delivery-settings.ts';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import { type Pool, transaction } from '../../src/platform/db/database.ts';

export interface Place {
  organisationId: string;
  facilityId: string;
}

/** Settings of deliveries with times so short that tests see every step. */
export const QUICK: DeliverySettings = {
  ...DELIVERY,
  retry: { ...DELIVERY.retry, delaysMs: [40, 40, 40, 40, 40, 40, 40, 40], jitter: 0 },
  breaker: { failures: 5, probeMs: 100, maxProbeMs: 400 },
  pollMs: 20,
};

/** Register `count` patients at a facility; returns their ids. Nothing is queued. */
export async function insertPatients(pool: Pool, place: Place, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await transaction(pool, async (client) => {
    const values = [place.organisationId, ids, randomBytes(8)];
    await client.query(
      `insert into patient (organisation_id, id, gender, birth_date, content_digest)
       select $1, unnest($2::uuid[]), 'female', '1980-02-29', $3`,
      values,
    );
    await client.query(
      `insert into patient_name (organisation_id, patient_id, position, family, given)
       select $1, id, 0, 'Test ' || n, array['Zoë', '0']
       from unnest($2::uuid[]) with ordinality p (id, n)`,
      values.slice(0, 2),
    );
    await client.query(
      `insert into patient_registration (organisation_id, facility_id, patient_id)
       select $1, $3, unnest($2::uuid[])`,
      [place.organisationId, ids, place.facilityId],
    );
  });
  return ids;
}

/** Queue patients as they are. Returns the number of deliveries. */
export function queue(
  pool: Pool,
  place: Place,
  ids: readonly string[],
  event: 'created' | 'updated' = 'created',
) {
  return transaction(pool, (client) =>
    enqueuePatientChanges(
      client,
      place,
      ids.map((patientId) => ({ patientId, event })),
    ),
  );
}

/** Give patients another second name and queue the change, in one transaction. */
export function rename(pool: Pool, place: Place, ids: readonly string[], name: string): Promise<number> {
  return transaction(pool, async (client) => {
    await client.query(
      `update patient
       set version = version + 1, updated_at = now()
       where organisation_id = $1 and id = any($2::uuid[])`,
      [place.organisationId, ids],
    );
    await client.query(
      `update patient_name
       set given = array['Zoë', $3]
       where organisation_id = $1 and patient_id = any($2::uuid[])`,
      [place.organisationId, ids, name],
    );
    return enqueuePatientChanges(
      client,
      place,
      ids.map((patientId) => ({ patientId, event: 'updated' as const })),
    );
  });
}

export function connect(
  { pool, keys }: { pool: Pool; keys: KeyRing },
  place: Place,
  input: Partial<NewConnection> & { address: string },
): Promise<CreatedConnection> {
  return createConnection(
    { db: pool, keys, publicBaseUrl: 'http://localhost:3000/api/v1', now: new Date(), author: BY_OPERATOR },
    place,
    { name: 'Test exchange', clientId: 'test-client', facilityIds: null, ...input },
  );
}
