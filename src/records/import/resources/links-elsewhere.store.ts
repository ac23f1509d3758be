/** SQL of the links of patients that are stored, whichever facility brought them. */
import { rowByKey, rowsByIndex } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope, OrganisationScope } from '../../../tenancy/scope.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';

export interface StoredLink {
  patientId: string;
  type: string;
  otherId: string;
  /** Those of the other patient that have a system and a value. */
  identifiers: IdentifierKey[];
}

/** Links of these patients to patients who are stored. */
export async function storedLinks(
  db: Queryable,
  { organisationId }: OrganisationScope,
  patientIds: readonly string[],
): Promise<StoredLink[]> {
  const { rows } = await db.query<StoredLink>({
    name: 'import-links-of-patients',
    text: `
      select asked.id as "patientId", l.type, l.other_id as "otherId",
        array(
          select json_build_object('system', i.system, 'value', i.value)
          from ${rowsByIndex('patient_identifier', 'i', { column: 'patient_id', value: 'l.other_id' })} i
          where i.system is not null
            and i.value is not null
        ) as identifiers
      from unnest($2::uuid[]) as asked (id)
      cross join ${rowByKey('patient_link', 'l', { patient_id: 'asked.id' })} l
      where l.other_id is not null`,
    values: [organisationId, patientIds],
  });
  return rows;
}

/** Patients of the facility whose links lead to one of these. */
export async function linkedTo(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  patientIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'import-patients-linked-to',
    text: `
      select distinct l.patient_id as id
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowsByIndex('patient_link', 'l', { column: 'other_id', value: 'asked.id' })} l
      cross join ${rowByKey('patient_registration', 'r', { facility_id: '$2', patient_id: 'l.patient_id' }, '')} r`,
    values: [organisationId, facilityId, patientIds],
  });
  return rows.map(({ id }) => id);
}
