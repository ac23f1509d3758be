/** SQL of patients: reading by id, and locking. Contract: ACC-3, PAT-10. */
import {
  type PackedText,
  packing,
  selectTexts,
  textStatements,
} from '../clinical/kept/packed-texts.store.ts';
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { EarlyAnswer } from '../platform/db/batch.ts';
import { askedRows, rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import type { OrganisationScope, RegistrationScope } from '../tenancy/scope.ts';
import { patientRecord } from './kept/patient-text.fhir.ts';
import { PATIENT_TEXTS } from './kept/patient-texts.store.ts';
import type { LoadedPatient, PatientRecord } from './patient.ts';
import { mayBeNamed, survivorOf, type Viewer } from './replacement.store.ts';

const PATIENTS = packing(PATIENT_TEXTS, { id: 'p.id' });

/** A patient as it is selected; without any, lists are null. */
interface PatientRow {
  place: number;
  packed: string;
  assignedIdentifiers: LoadedPatient['assignedIdentifiers'] | null;
  links: LoadedPatient['links'] | null;
  replacedBy: string | null;
  replaces: string[] | null;
  refusedPurposes: string[];
  version: number;
  updatedText: string;
}

/** SQL of the identifier that an exchange gave a patient, of a row aliased `s`, and of the order of several. */
export const ASSIGNED_IDENTIFIER = `json_build_object(
    'system', s.system, 'value', s.value, 'assigner', json_build_object('display', s.assigner)
  )`;
export const ASSIGNED_ORDER = 's.assigned_at, s.connection_id';

const ASSIGNED_IDENTIFIERS = `(
  select json_agg(${ASSIGNED_IDENTIFIER} order by ${ASSIGNED_ORDER})
  from patient_assigned_identifier s
  where s.organisation_id = $1
    and s.patient_id = p.id
)`;

const linksFor = (viewer: Viewer) => `(
  select json_agg(json_strip_nulls(json_build_object(
    'otherId', l.other_id, 'otherDisplay', l.other_display, 'type', l.type
  )) order by l.position)
  from patient_link l
  where l.organisation_id = $1
    and l.patient_id = p.id
    and (l.other_id is null or ${mayBeNamed('l.other_id', viewer)})
)`;

const replacesFor = (viewer: Viewer) => `(
  select json_agg(distinct l.replaced_id)
  from patient_link l
  where l.organisation_id = $1
    and l.survivor_id = p.id
    and l.replaced_id is not null
    and ${mayBeNamed('l.replaced_id', viewer)}
)`;

const VIEWER: Viewer = { facilityId: 'asked.facility_id', purposeOfUse: 'asked.purpose' };

const READ = textStatements(
  'patient-load',
  (otherwise) => `
  select asked.place::int as place, ${PATIENTS.sql(otherwise)} as packed, ${ASSIGNED_IDENTIFIERS} as "assignedIdentifiers",
    ${linksFor(VIEWER)} as links, ${survivorOf('p.id', VIEWER)} as "replacedBy", ${replacesFor(VIEWER)} as replaces,
    p.refused_purposes as "refusedPurposes", p.version, p.updated_at::text as "updatedText"
  from ${askedRows({ facility_id: 'uuid', purpose: 'text', id: 'uuid' })}
  cross join ${rowByKey('patient_registration', 'r', { facility_id: 'asked.facility_id', patient_id: 'asked.id' }, 'r.patient_id')} registered
  cross join ${rowByKey('patient', 'p', { id: 'registered.patient_id' })} p`,
);

/** A patient, and for whom it is read: without a purpose of use, only other patients who refuse none are named. */
export interface PatientKey {
  readonly scope: RegistrationScope;
  readonly purposeOfUse?: PurposeOfUse | undefined;
  readonly id: string;
}

async function load(
  db: Queryable,
  organisationId: string,
  keys: readonly PatientKey[],
  answer: EarlyAnswer<LoadedPatient>,
): Promise<undefined> {
  const selection = {
    packing: PATIENTS,
    statements: READ,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ purposeOfUse }) => purposeOfUse ?? null),
      keys.map(({ id }) => id),
    ] as const,
    keys,
  };
  await selectTexts<PatientRow, PackedText<'id'>>(db, selection, (row, texts) => {
    for (const { id, text } of texts) answer(row.place - 1, toPatient(row, { organisationId, id, text }));
  });
}

/** Reads by id; those that arrive together share a round trip. Undefined: not registered at the facility. */
export function createPatientReader(db: Queryable): (key: PatientKey) => Promise<LoadedPatient | undefined> {
  return createOrganisationBatcher<PatientKey, LoadedPatient | undefined>({
    load: (organisationId, keys, answer) => load(db, organisationId, keys, answer),
    maxKeys: 100,
    maxInFlight: 2,
  });
}

/** The patients with these ids that are registered at the facility, by id; the others are missing. */
export async function loadPatients(
  db: Queryable,
  { purposeOfUse, ...scope }: RegistrationScope & Pick<PatientKey, 'purposeOfUse'>,
  ids: readonly string[],
): Promise<Map<string, PatientRecord>> {
  const keys = ids.map((id) => ({ scope, purposeOfUse, id }));
  const patients = new Map<string, PatientRecord>();
  await load(db, scope.organisationId, keys, (_place, patient) =>
    patients.set(patient.id, patientRecord(patient)),
  );
  return patients;
}

/** Bytes of the texts that these patients are kept as, by id; 0 for one that has none at the moment. */
export async function textSizes(
  db: Queryable,
  { organisationId }: OrganisationScope,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; bytes: number }>({
    name: 'patient-text-sizes',
    text: `
      select asked.id, coalesce(p.bytes, 0) as bytes
      from unnest($2::uuid[]) as asked (id)
      cross join ${rowByKey('patient', 'p', { id: 'asked.id' }, 'octet_length(p.rendered) as bytes')} p`,
    values: [organisationId, ids],
  });
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/**
 * Wait for the changes of these patients that are under way, and let no other one begin before this transaction ends: what
 * the next statements read of them is as all earlier changes left it.
 */
export async function lockPatients(
  db: Queryable,
  { organisationId }: OrganisationScope,
  patientIds: readonly string[],
): Promise<void> {
  await db.query({
    name: 'patient-lock',
    text: `
      select
      from patient
      where organisation_id = $1
        and id = any($2::uuid[])
      order by id
      for no key update`,
    values: [organisationId, patientIds],
  });
}

function toPatient(
  { assignedIdentifiers, links, replacedBy, replaces, refusedPurposes, version, updatedText }: PatientRow,
  kept: Pick<LoadedPatient, 'organisationId' | 'id' | 'text'>,
): LoadedPatient {
  return {
    ...kept,
    assignedIdentifiers: assignedIdentifiers ?? [],
    links: links ?? [],
    replacedBy,
    replaces: replaces ?? [],
    refusedPurposes,
    version,
    lastUpdated: instantFromTimestamp(updatedText),
  };
}
