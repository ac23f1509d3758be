/** One record of each kind at a facility, for tests that walk every route. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { Tenant } from '../service/api.ts';
import { insertAccount } from '../sign-in/insert-account.ts';
import { insertEncounter, insertPatient } from './clinical-records.ts';

export interface SeededRecords {
  patientId: string;
  encounterId: string;
  labOrderId: string;
  imagingOrderId: string;
  vitalSetId: string;
  /** A vital sign of the set. */
  observationId: string;
  /** Of the laboratory order. */
  reportId: string;
  /** Named by the report. */
  specimenId: string;
  /** Of the imaging order. */
  studyId: string;
  connectionId: string;
  /** Held for review. */
  deliveryId: string;
  importId: string;
  /** Of a system at the facility. */
  accountId: string;
  sessionId: string;
  /** Of that account; without permissions, so that whoever manages accounts manages it. */
  roleId: string;
  facilityId: string;
}

/** What no answer to someone else may contain: a name, identifiers and a phone that occur nowhere else. */
export const MARKS = {
  family: 'Quixzotter',
  given: 'Yevgrafiya',
  identifier: 'MRN-77310442',
  phone: '+999 555 0177 310',
  assignedId: 'EXCHANGE-40917733',
} as const;

export async function seedRecords(
  db: Queryable,
  tenant: Tenant,
  options: { refusedPurposes?: string[] } = {},
): Promise<SeededRecords> {
  const patientId = await insertPatient(db, tenant, {
    names: [{ use: 'official', family: MARKS.family, given: [MARKS.given] }],
    identifiers: [{ system: 'urn:example:mrn', value: MARKS.identifier }],
    telecoms: [{ system: 'phone', value: MARKS.phone }],
    ...options,
  });
  const encounterId = await insertEncounter(db, tenant, {
    patientId,
    start: '2026-01-10T08:00:00Z',
    end: '2026-01-10T09:00:00Z',
  });
  const [labOrderId, imagingOrderId, vitalSetId] = [randomUUID(), randomUUID(), randomUUID()];
  await insertOrder(db, tenant, { id: labOrderId, patientId, discipline: 'laboratory' });
  await insertOrder(db, tenant, { id: imagingOrderId, patientId, discipline: 'imaging' });
  await db.query({
    text: `
      insert into vital_set (organisation_id, facility_id, id, patient_id, encounter_id, taken_at)
      values ($1, $2, $3, $4, $5, '2026-01-10T08:15:00Z')`,
    values: [tenant.organisationId, tenant.facilityId, vitalSetId, patientId, encounterId],
  });
  const [observationId, reportId, studyId, specimenId] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
  ];
  const insertPart = (text: string, id: string, ownerId: string) => {
    const { organisationId, facilityId } = tenant;
    return db.query({ text, values: [organisationId, facilityId, id, ownerId, patientId, randomBytes(32)] });
  };
  await insertPart(
    `insert into observation (organisation_id, facility_id, id, vital_set_id, patient_id, kind, vital_sign, status,
       code, effective_type, effective_start, effective_at, value_type, value_number, value_unit,
       value_unit_system, value_unit_code, content_digest)
     values ($1, $2, $3, $4, $5, 'vital-sign', true, 'final',
       '{"coding":[{"system":"http://loinc.org","code":"8867-4"}]}', 'dateTime', '2026-01-10T08:15:00Z',
       '2026-01-10T08:15:00Z', 'Quantity', 72.0, '/min', 'http://unitsofmeasure.org', '/min', $6)`,
    observationId,
    vitalSetId,
  );
  await insertPart(
    `insert into investigation_report (organisation_id, facility_id, id, order_id, patient_id, discipline, status,
       code, specimen, content_digest)
     values ($1, $2, $3, $4, $5, 'laboratory', 'final', '{"text":"HbA1c"}',
       '[{"type":"Specimen","id":"${specimenId}"}]', $6)`,
    reportId,
    labOrderId,
  );
  await db.query({
    text: `insert into specimen (organisation_id, facility_id, id, patient_id, content_digest)
      values ($1, $2, $3, $4, $5)`,
    values: [tenant.organisationId, tenant.facilityId, specimenId, patientId, randomBytes(32)],
  });
  await insertPart(
    `insert into imaging_study (organisation_id, facility_id, id, order_id, patient_id, status, content_digest)
     values ($1, $2, $3, $4, $5, 'available', $6)`,
    studyId,
    imagingOrderId,
  );
  const connectionId = await insertConnection(db, tenant);
  const deliveryId = await insertHeldDelivery(db, tenant, { connectionId, patientId });
  await insertCallback(db, tenant, { connectionId, deliveryId, patientId });
  const importId = randomUUID();
  await db.query({
    text: `insert into import_run (organisation_id, facility_id, id, source, finished_at, state)
      values ($1, $2, $3, 'command', now(), 'finished')`,
    values: [tenant.organisationId, tenant.facilityId, importId],
  });
  const { userId: accountId, sessionId, roleId } = await insertAccount(db, tenant);
  return {
    patientId,
    encounterId,
    labOrderId,
    imagingOrderId,
    vitalSetId,
    observationId,
    reportId,
    specimenId,
    studyId,
    connectionId,
    deliveryId,
    importId,
    accountId,
    sessionId,
    roleId,
    facilityId: tenant.facilityId,
  };
}

async function insertOrder(
  db: Queryable,
  tenant: Tenant,
  order: { id: string; patientId: string; discipline: string },
): Promise<void> {
  await db.query({
    text: `
      insert into investigation_order (organisation_id, facility_id, id, patient_id, discipline, status, intent,
        code, authored_at, authored_source, sort_at, content_digest)
      values ($1, $2, $3, $4, $5, 'completed', 'order', '{"coding":[{"system":"http://loinc.org","code":"4548-4"}]}',
        '2026-01-10T08:30:00Z', '2026-01-10T08:30:00Z', '2026-01-10T08:30:00Z', $6)`,
    values: [
      tenant.organisationId,
      tenant.facilityId,
      order.id,
      order.patientId,
      order.discipline,
      randomBytes(32),
    ],
  });
}

/** A connection of the one facility. It is disabled, so that nothing is sent. */
async function insertConnection(db: Queryable, { organisationId, facilityId }: Tenant): Promise<string> {
  const id = randomUUID();
  const run = (text: string, values: unknown[]) => db.query({ text, values });
  await run('insert into exchange_connection_directory (connection_id, organisation_id) values ($1, $2)', [
    id,
    organisationId,
  ]);
  await run(
    `insert into exchange_connection
       (organisation_id, id, name, address, client_id, identifier_system, all_facilities, disabled_at)
     values ($1, $2, $3, 'http://127.0.0.1:9/deliveries', 'client', 'urn:example:exchange', false, now())`,
    [organisationId, id, `connection ${id}`],
  );
  await run(
    `insert into exchange_connection_facility (organisation_id, connection_id, facility_id)
     values ($1, $2, $3)`,
    [organisationId, id, facilityId],
  );
  return id;
}

async function insertHeldDelivery(
  db: Queryable,
  { organisationId, facilityId }: Tenant,
  { connectionId, patientId }: { connectionId: string; patientId: string },
): Promise<string> {
  const id = randomUUID();
  const run = (text: string, ...values: unknown[]) =>
    db.query({ text, values: [organisationId, connectionId, patientId, ...values] });
  await run(
    `insert into exchange_lane (organisation_id, connection_id, patient_id, last_sequence, digest)
     values ($1, $2, $3, 1, $4)`,
    randomBytes(32),
  );
  await run(
    `insert into exchange_delivery
       (organisation_id, connection_id, patient_id, sequence, id, facility_id, event, occurred_at, body)
     values ($1, $2, $3, 1, $4, $5, 'patient.created', now(), $6)`,
    id,
    facilityId,
    JSON.stringify({
      deliveryId: id,
      resource: { resourceType: 'Patient', name: [{ family: MARKS.family }] },
    }),
  );
  await run(
    `insert into exchange_head (organisation_id, connection_id, patient_id, sequence, last_sequence, queued_at,
       held_at, held_reason)
     values ($1, $2, $3, 1, 1, now(), now(), 'refused_422')`,
  );
  return id;
}

async function insertCallback(
  db: Queryable,
  { organisationId, facilityId }: Tenant,
  { connectionId, deliveryId, patientId }: { connectionId: string; deliveryId: string; patientId: string },
): Promise<void> {
  await db.query({
    text: `
      insert into exchange_callback (organisation_id, connection_id, body_digest, id, delivery_id, patient_id,
        facility_id, status, assigned_id, outcome, received_at, correlation_id)
      values ($1, $2, $3, gen_random_uuid(), $4, $5, $6, 'accepted', $7, 'applied', now(), 'seeded')`,
    values: [
      organisationId,
      connectionId,
      randomBytes(32),
      deliveryId,
      patientId,
      facilityId,
      MARKS.assignedId,
    ],
  });
}
