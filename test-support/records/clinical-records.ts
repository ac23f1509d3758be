/** Patients and encounters put straight into a test database, for tests of reading them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { patientSearchKeys, sortName } from '../../src/clinical/resources/search-key.ts';
import type { ContactPoint, HumanName } from '../../src/fhir/person.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { Tenant } from '../service/api.ts';

export interface PatientOptions {
  id?: string;
  names?: HumanName[];
  identifiers?: { system?: string; value?: string }[];
  telecoms?: ContactPoint[];
  gender?: string;
  birthDate?: string;
  refusedPurposes?: string[];
}

/** A patient registered at the tenant's facility. Returns the id. */
export async function insertPatient(
  db: Queryable,
  tenant: Tenant,
  options: PatientOptions = {},
): Promise<string> {
  const { id = randomUUID(), names = [], identifiers = [], telecoms = [] } = options;
  const run = (text: string, ...values: unknown[]) =>
    db.query({ text, values: [tenant.organisationId, ...values] });
  await run(
    `insert into patient
       (organisation_id, id, gender, birth_date, sort_name, refused_purposes, content_digest)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    id,
    options.gender ?? null,
    options.birthDate ?? null,
    sortName(names),
    options.refusedPurposes ?? [],
    randomBytes(32),
  );
  await registerPatient(db, tenant, id);
  for (const [position, name] of names.entries())
    await run(
      `insert into patient_name (organisation_id, patient_id, position, use, text, family, given, prefix, suffix, period_start, period_end)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      id,
      position,
      name.use,
      name.text,
      name.family,
      name.given,
      name.prefix,
      name.suffix,
      name.period?.start,
      name.period?.end,
    );
  for (const [position, { system, value }] of identifiers.entries())
    await run(
      'insert into patient_identifier (organisation_id, patient_id, position, system, value) values ($1, $2, $3, $4, $5)',
      id,
      position,
      system,
      value,
    );
  for (const [position, point] of telecoms.entries())
    await run(
      'insert into patient_telecom (organisation_id, patient_id, position, system, value, use) values ($1, $2, $3, $4, $5, $6)',
      id,
      position,
      point.system,
      point.value,
      point.use,
    );
  for (const { kind, key } of patientSearchKeys({ names, identifiers, telecoms }))
    await run(
      'insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name) values ($1, $2, $3, $4, $5)',
      id,
      kind,
      key,
      sortName(names),
    );
  return id;
}

export async function registerPatient(db: Queryable, tenant: Tenant, patientId: string): Promise<void> {
  await db.query({
    text: 'insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)',
    values: [tenant.organisationId, tenant.facilityId, patientId],
  });
}

export interface EncounterOptions {
  id?: string;
  status?: string;
  classCode?: string;
  /** Instants as text. */
  start?: string | null;
  end?: string | null;
}

/** An encounter at the tenant's facility. Returns the id. */
export async function insertEncounter(
  db: Queryable,
  tenant: Tenant,
  { patientId, ...options }: EncounterOptions & { patientId: string },
): Promise<string> {
  const { id = randomUUID(), status = 'finished', classCode = 'AMB', start = null, end = null } = options;
  await db.query({
    text: `
      insert into encounter (organisation_id, facility_id, id, patient_id, status, class_code,
        period_start, period_end, sort_start, content_digest)
      values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($7::timestamptz, '-infinity'), $9)`,
    values: [
      tenant.organisationId,
      tenant.facilityId,
      id,
      patientId,
      status,
      classCode,
      start,
      end,
      randomBytes(32),
    ],
  });
  return id;
}
