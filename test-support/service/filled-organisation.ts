/** An organisation with all kinds of records, as many of each as patients, for tests of what calls read. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createFhirServer } from '../../src/publish/servers/manage-fhir-servers.ts';
import { connect, insertPatients, queue } from '../exchange/exchange-records.ts';
import { importJson } from '../records/import-files.ts';
import { type SeededRecords, seedRecords } from '../records/seed-tenant.ts';
import { visitEntries } from '../records/visit-bundle.ts';
import { addAccount, cheapPasswords } from '../sign-in/sign-in.ts';
import type { Tenant, TestAccount, TestApi } from './api.ts';

/** Records of one patient, and some of the organisation. */
export type CalledRecords = SeededRecords & { family: string; identifier: string };

export interface FilledOrganisation {
  account: TestAccount;
  /** A few patients, with their records. */
  seeds: CalledRecords[];
  /** Of as many systems that have the password of tests. */
  emails: string[];
  /** An exchange, with deliveries for it. */
  connection: { id: string; callbackSecret: string };
  deliveryIds: string[];
}

export interface Filling {
  /** In the names of its records. */
  source: string;
  patients: number;
  /** How many are told. */
  told: number;
  /** Where it publishes. */
  fhirServer: string;
}

export async function fillOrganisation(api: TestApi, filling: Filling): Promise<FilledOrganisation> {
  const { source, patients, told } = filling;
  const tenant = await api.createTenant();
  const db = api.database.pool;
  const entry = Array.from({ length: patients }, (_, number) => visitEntries(source, number)).flat();
  const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry });
  assert.deepEqual((await importJson(db, tenant, bundle)).rejected, []);
  const seeded = await Promise.all(Array.from({ length: patients }, () => seedRecords(db, tenant)));
  const account = await api.createAccount(tenant);
  const visits = await visitsOf(api, tenant, told);
  const seeds = visits.map((visit, index) => ({ ...(seeded[index] as SeededRecords), ...visit }));
  await addCodes(api, tenant, patients);
  await addPublishes(api, account, { fhirServer: filling.fhirServer, except: seeds });
  const connection = await connect({ pool: db, keys: api.keys }, tenant, {
    address: 'https://hie.example.org/in',
  });
  await queue(db, tenant, await insertPatients(db, tenant, patients));
  const { rows: deliveries } = await db.query<{ id: string }>(
    'select id from exchange_delivery where organisation_id = $1 and connection_id = $2 limit $3',
    [tenant.organisationId, connection.id, told],
  );
  const emails = await addSystems(api, tenant, told);
  return { account, seeds, emails, connection, deliveryIds: deliveries.map(({ id }) => id) };
}

async function visitsOf(
  { database }: TestApi,
  { organisationId }: Tenant,
  limit: number,
): Promise<CalledRecords[]> {
  const one = (table: string, more = '') =>
    `(select x.id from ${table} x where x.organisation_id = $1 and x.patient_id = i.patient_id ${more} order by x.id limit 1)`;
  const { rows } = await database.pool.query<CalledRecords>(
    `select i.patient_id as "patientId", i.value as identifier, n.family,
       ${one('encounter')} as "encounterId",
       ${one('investigation_order', "and x.discipline = 'laboratory'")} as "labOrderId",
       ${one('investigation_order', "and x.discipline = 'imaging'")} as "imagingOrderId",
       ${one('vital_set')} as "vitalSetId",
       ${one('observation')} as "observationId",
       ${one('investigation_report')} as "reportId",
       ${one('imaging_study')} as "studyId"
     from patient_identifier i
     join patient_name n using (organisation_id, patient_id)
     where i.organisation_id = $1
       and i.value like 'Patient-%'
     order by i.patient_id
     limit $2`,
    [organisationId, limit],
  );
  return rows;
}

/** Codes that no map covers, and maps of others. */
async function addCodes({ database }: TestApi, tenant: Tenant, count: number): Promise<void> {
  const values = [tenant.organisationId, tenant.facilityId, count];
  await database.pool.query(
    `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count,
       first_met_at, last_met_at)
     select $1, $2, 'urn:local', 'code-' || n, 'lab.result', 1, now(), now()
     from generate_series(1, $3::integer) n`,
    values,
  );
  await database.pool.query(
    `insert into terminology_map (organisation_id, id, facility_id, local_system, local_code, target_system,
       target_code, version, created_at, updated_at)
     select $1, gen_random_uuid(), $2, 'urn:local', 'map-' || n, 'http://loinc.org', '4548-4', 1, now(), now()
     from generate_series(1, $3::integer) n`,
    values,
  );
}

/** A FHIR server, with what it has already of others than these patients. */
async function addPublishes(
  { database, keys }: TestApi,
  { organisationId, userId }: TestAccount,
  { fhirServer, except }: { fhirServer: string; except: readonly CalledRecords[] },
): Promise<void> {
  const db = database.pool;
  const { id } = await createFhirServer(
    { db, keys },
    {
      organisationId,
      settings: {
        name: 'target',
        base: fhirServer,
        auth: 'none',
        referencePolicy: 'logical',
        allowLocalCodes: true,
      },
      secret: undefined,
      makeDefault: true,
    },
  );
  await db.query(
    `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id, account_id,
       purpose_of_use, correlation_id, started_at, finished_at, outcome, resumable)
     select $1, o.facility_id, gen_random_uuid(),
       case o.discipline when 'imaging' then 'imaging-order' else 'lab-order' end,
       o.id, $2, gen_random_uuid(), $3, 'TREATMENT', 'filled', now(), now(), 'done', false
     from investigation_order o
     where o.organisation_id = $1`,
    [organisationId, id, userId],
  );
  await db.query(
    `insert into publish_resource (organisation_id, target_id, resource_type, local_id)
     select $1, $2::uuid, 'Observation', o.id
     from observation o
     where o.organisation_id = $1
       and o.patient_id <> all($3::uuid[])`,
    [organisationId, id, except.map(({ patientId }) => patientId)],
  );
}

/** Systems that can sign in; returns their addresses. */
async function addSystems({ database }: TestApi, tenant: Tenant, count: number): Promise<string[]> {
  const role = `system-${randomUUID()}`;
  await database.pool.query(
    'insert into role (organisation_id, id, name) values ($1, gen_random_uuid(), $2)',
    [tenant.organisationId, role],
  );
  const emails: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const { email } = await addAccount({ database, passwords: cheapPasswords() }, { ...tenant, role });
    emails.push(email);
  }
  return emails;
}
