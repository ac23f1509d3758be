/**
 * Whether a Patient that comes under the id of a stored one is still the same person, and whether two of them may be one.
 * Contract: IN-21, IN-36.
 */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { PATIENT } from '../../../clinical/resources/patient.fhir.ts';
import { rowByKey, rowsByIndex } from '../../../platform/db/by-key.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { OrganisationScope } from '../../../tenancy/scope.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';
import type { WriteContext } from '../map/resource-importer.ts';
import { patientLookup } from './lookups.store.ts';

interface Identity {
  gender: string | null;
  birthDate: string | null;
  /** Folded official name; empty for none. */
  name: string;
}

/**
 * The ids of rows whose name, birth date and sex all differ from what is stored. What is not known on either side
 * does not differ. The stored rows stay locked, so that nobody changes them in between.
 */
export async function otherPersons(
  { client, scope }: Pick<WriteContext, 'client' | 'scope'>,
  rows: readonly RecordRow[],
): Promise<string[]> {
  const { rows: found } = await client.query<Identity & { id: string }>({
    name: 'import-patient-identity',
    text: `
      select id, gender, birth_date as "birthDate", sort_name as name
      from patient
      where organisation_id = $1
        and id = any($2::uuid[])
      order by id
      for no key update`,
    values: [scope.organisationId, rows.map(({ id }) => id)],
  });
  const stored = new Map(found.map((identity) => [identity.id, identity]));
  return rows.flatMap((row) => {
    const before = stored.get(row.id);
    return before !== undefined && isOther(before, identityOf(row)) ? [row.id] : [];
  });
}

function identityOf({ values }: RecordRow): Identity {
  return {
    gender: text(values.gender),
    birthDate: text(values.birth_date),
    name: text(values.sort_name) ?? '',
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isOther(before: Identity, now: Identity): boolean {
  return (
    sexDiffers(before.gender, now.gender) &&
    datesDiffer(before.birthDate, now.birthDate) &&
    before.name !== '' &&
    now.name !== '' &&
    before.name !== now.name
  );
}

function sexDiffers(before: string | null, now: string | null): boolean {
  const known = [before, now].every((gender) => gender !== null && gender !== 'unknown');
  return known && before !== now;
}

/** A year or a month is the same as a day in it. */
function datesDiffer(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && !before.startsWith(now) && !now.startsWith(before);
}

export const SHARED_IDENTIFIER =
  'has an identifier, with the same system, that another patient of this facility has. Both were taken. If they are one person, merge them in the source; else correct the identifier';

/**
 * Those of the patients who have an identifier that another patient of the facility has too. Linked patients may share
 * one: the source knows of both.
 */
export async function sharingIdentifiers(
  { client, scope, dryRun }: Pick<WriteContext, 'client' | 'scope' | 'dryRun'>,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  if (dryRun !== undefined)
    await dryRun.bringIdentified(
      { lookup: patientLookup, table: PATIENT.table },
      await identifiersOf(client, scope, ids),
      'facility',
    );
  const { rows } = await client.query<{ id: string }>({
    name: 'import-patient-shared-identifiers',
    text: `
      select asked.id
      from unnest($3::uuid[]) as asked (id)
      cross join lateral (
        select
        from ${rowsByIndex('patient_identifier', 'i', { column: 'patient_id', value: 'asked.id' })} own
        cross join ${rowsByIndex('patient_identifier', 'i', { column: 'value', value: 'own.value' })} other
        cross join ${rowByKey('patient_registration', 'r', { facility_id: '$2', patient_id: 'other.patient_id' }, '')} r
        cross join lateral (
          select count(*) as links
          from patient_link l
          where l.organisation_id = $1
            and (l.patient_id, l.other_id) in ((asked.id, other.patient_id), (other.patient_id, asked.id))
        ) linked
        where other.system = own.system
          and other.patient_id <> asked.id
          and linked.links = 0
        limit 1
      ) shared`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows.map(({ id }) => id);
}

async function identifiersOf(
  client: Client,
  { organisationId }: OrganisationScope,
  ids: readonly string[],
): Promise<IdentifierKey[]> {
  const { rows } = await client.query<IdentifierKey>({
    name: 'import-identifiers-of-patients',
    text: `
      select system, value
      from patient_identifier
      where organisation_id = $1
        and patient_id = any($2::uuid[])
        and system is not null
        and value is not null`,
    values: [organisationId, ids],
  });
  return rows;
}
