/** SQL of patients: the columns of one, and reading by id. Contract: ACC-3, PAT-10. */
import { type HeldPatient, PATIENT } from '../clinical/resources/patient.fhir.ts';
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import type { PatientRecord, RegistrationScope } from './patient.ts';
import { mayBeNamed, REPLACEMENTS, survivorOf } from './replacement.store.ts';

type Nullable<Held> = {
  [Name in keyof Held]-?: undefined extends Held[Name] ? NonNullable<Held[Name]> | null : Held[Name];
};

/** A patient as it is selected; lists arrive in the shapes of the FHIR data types, without nulls. */
export interface PatientRow extends Nullable<HeldPatient> {
  replacedBy: string | null;
  replaces: string[] | null;
  refusedPurposes: string[];
  version: number;
  updatedText: string;
}

const ASSIGNED_IDENTIFIERS = `(
  select json_agg(json_build_object(
    'system', s.system, 'value', s.value, 'assigner', json_build_object('display', s.assigner)
  ) order by s.assigned_at, s.connection_id)
  from patient_assigned_identifier s
  where s.organisation_id = $1
    and s.patient_id = p.id
)`;

/** {@link PATIENT_COLUMNS} says what the parameters are. */
const VIEWER = { facilityId: '$2', purposeOfUse: '$3' };

const LINKS = `(
  select json_agg(json_strip_nulls(json_build_object(
    'otherId', l.other_id, 'otherDisplay', l.other_display, 'type', l.type
  )) order by l.position)
  from patient_link l
  where l.organisation_id = $1
    and l.patient_id = p.id
    and (l.other_id is null or ${mayBeNamed('l.other_id', VIEWER)})
)`;

const REPLACES = `(
  select json_agg(distinct x.replaced_id)
  from ${REPLACEMENTS} x
  where x.survivor_id = p.id
    and ${mayBeNamed('x.replaced_id', VIEWER)}
)`;

/**
 * What {@link PatientRow} selects, of a patient named `p` in the organisation `$1`, for the facility `$2` and the purpose
 * of use `$3`. On these two depends which other patients are named.
 */
export const PATIENT_COLUMNS = [
  ...PATIENT.fields('p'),
  { name: 'assignedIdentifiers', sql: ASSIGNED_IDENTIFIERS },
  { name: 'links', sql: LINKS },
  { name: 'replacedBy', sql: survivorOf('p.id', VIEWER) },
  { name: 'replaces', sql: REPLACES },
  { name: 'refusedPurposes', sql: 'p.refused_purposes' },
  { name: 'version', sql: 'p.version' },
  { name: 'updatedText', sql: 'p.updated_at::text' },
]
  .map(({ name, sql }) => `${sql} as "${name}"`)
  .join(', ');

const LOAD = `
  select ${PATIENT_COLUMNS}
  from patient_registration r
  join patient p
    on p.organisation_id = $1
    and p.id = r.patient_id
  where r.organisation_id = $1
    and r.facility_id = $2
    and r.patient_id = any($4::uuid[])`;

/**
 * The patients with these ids that are registered at the facility, by id; the others are missing. Without a purpose of
 * use they name those other patients only who refuse none.
 */
export async function loadPatients(
  db: Queryable,
  scope: RegistrationScope & { readonly purposeOfUse?: PurposeOfUse },
  ids: readonly string[],
): Promise<Map<string, PatientRecord>> {
  const { rows } = await db.query<PatientRow>({
    name: 'patient-load',
    text: LOAD,
    values: [scope.organisationId, scope.facilityId, scope.purposeOfUse ?? null, ids],
  });
  return new Map(rows.map((row) => [row.id, toPatient(scope.organisationId, row)]));
}

export function toPatient(organisationId: string, { updatedText, ...row }: PatientRow): PatientRecord {
  return {
    ...row,
    organisationId,
    communication: row.communication ?? [],
    contacts: row.contacts ?? [],
    names: row.names ?? [],
    identifiers: row.identifiers ?? [],
    assignedIdentifiers: row.assignedIdentifiers ?? [],
    links: row.links ?? [],
    replaces: row.replaces ?? [],
    telecoms: row.telecoms ?? [],
    addresses: row.addresses ?? [],
    lastUpdated: instantFromTimestamp(updatedText),
  };
}
