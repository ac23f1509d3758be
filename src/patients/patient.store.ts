/** SQL of patients: the columns of one, and reading by id. Contract: ACC-3. */
import type { CodeableConcept, Identifier } from '../fhir/coded.ts';
import type { Address, ContactPoint, HumanName } from '../fhir/person.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import type { PatientCommunication, PatientContact, PatientRecord, RegistrationScope } from './patient.ts';

/** A patient as it is selected; lists arrive in the shapes of the FHIR data types, without nulls. */
export interface PatientRow {
  id: string;
  active: boolean | null;
  gender: PatientRecord['gender'];
  birth_date: string | null;
  deceased_boolean: boolean | null;
  deceased_date_time: string | null;
  marital_status: CodeableConcept | null;
  multiple_birth_boolean: boolean | null;
  multiple_birth_integer: number | null;
  communication: PatientCommunication[] | null;
  contact: PatientContact[] | null;
  names: HumanName[] | null;
  identifiers: Identifier[] | null;
  assigned_identifiers: Identifier[] | null;
  telecoms: ContactPoint[] | null;
  addresses: Address[] | null;
  refused_purposes: string[];
  version: number;
  updated_text: string;
}

/** What {@link PatientRow} selects, of a patient named `p` in the organisation `$1`. */
export const PATIENT_COLUMNS = `
  p.id,
  p.active,
  p.gender,
  p.birth_date,
  p.deceased_boolean,
  p.deceased_date_time,
  p.marital_status,
  p.multiple_birth_boolean,
  p.multiple_birth_integer,
  p.communication,
  p.contact,
  p.refused_purposes,
  p.version,
  p.updated_at::text as updated_text,
  (
    select json_agg(json_strip_nulls(json_build_object(
      'use', n.use, 'text', n.text, 'family', n.family, 'given', nullif(n.given, '{}'),
      'prefix', nullif(n.prefix, '{}'), 'suffix', nullif(n.suffix, '{}'),
      'period', case when coalesce(n.period_start, n.period_end) is not null
        then json_build_object('start', n.period_start, 'end', n.period_end) end
    )) order by n.position)
    from patient_name n
    where n.organisation_id = $1
      and n.patient_id = p.id
  ) as names,
  (
    select json_agg(json_strip_nulls(json_build_object(
      'use', i.use, 'type', i.type, 'system', i.system, 'value', i.value,
      'period', case when coalesce(i.period_start, i.period_end) is not null
        then json_build_object('start', i.period_start, 'end', i.period_end) end
    )) order by i.position)
    from patient_identifier i
    where i.organisation_id = $1
      and i.patient_id = p.id
  ) as identifiers,
  (
    select json_agg(json_build_object(
      'system', s.system, 'value', s.value, 'assigner', json_build_object('display', s.assigner)
    ) order by s.assigned_at, s.connection_id)
    from patient_assigned_identifier s
    where s.organisation_id = $1
      and s.patient_id = p.id
  ) as assigned_identifiers,
  (
    select json_agg(json_strip_nulls(json_build_object(
      'system', t.system, 'value', t.value, 'use', t.use, 'rank', t.rank
    )) order by t.position)
    from patient_telecom t
    where t.organisation_id = $1
      and t.patient_id = p.id
  ) as telecoms,
  (
    select json_agg(json_strip_nulls(json_build_object(
      'use', a.use, 'type', a.type, 'text', a.text, 'line', nullif(a.line, '{}'), 'city', a.city,
      'district', a.district, 'state', a.state, 'postalCode', a.postal_code, 'country', a.country
    )) order by a.position)
    from patient_address a
    where a.organisation_id = $1
      and a.patient_id = p.id
  ) as addresses`;

const LOAD = `
  select ${PATIENT_COLUMNS}
  from patient_registration r
  join patient p
    on p.organisation_id = $1
    and p.id = r.patient_id
  where r.organisation_id = $1
    and r.facility_id = $2
    and r.patient_id = any($3::uuid[])`;

/** The patients with these ids that are registered at the facility, by id; the others are missing. */
export async function loadPatients(
  db: Queryable,
  scope: RegistrationScope,
  ids: readonly string[],
): Promise<Map<string, PatientRecord>> {
  const { rows } = await db.query<PatientRow>({
    name: 'patient-load',
    text: LOAD,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return new Map(rows.map((row) => [row.id, toPatient(scope.organisationId, row)]));
}

export function toPatient(organisationId: string, row: PatientRow): PatientRecord {
  return {
    organisationId,
    id: row.id,
    active: row.active,
    gender: row.gender,
    birthDate: row.birth_date,
    deceasedBoolean: row.deceased_boolean,
    deceasedDateTime: row.deceased_date_time,
    maritalStatus: row.marital_status,
    multipleBirthBoolean: row.multiple_birth_boolean,
    multipleBirthInteger: row.multiple_birth_integer,
    communication: row.communication ?? [],
    contacts: row.contact ?? [],
    names: row.names ?? [],
    identifiers: row.identifiers ?? [],
    assignedIdentifiers: row.assigned_identifiers ?? [],
    telecoms: row.telecoms ?? [],
    addresses: row.addresses ?? [],
    refusedPurposes: row.refused_purposes,
    version: row.version,
    lastUpdated: instantFromTimestamp(row.updated_text),
  };
}
