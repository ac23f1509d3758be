/** SQL of the ids that exchanges gave patients. Contract: PAT-8, EXC-44. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface AssignedIdentifier {
  patientId: string;
  connectionId: string;
  system: string;
  value: string;
  searchKey: string;
  assigner: string;
  assignedAt: Date;
}

/**
 * Record an assigned id. Returns the one that stands afterwards: the first that was ever assigned, which is never
 * overwritten. `isNew` tells whether it is this one, written now; the patient then has a new version.
 */
export async function assignIdentifier(
  db: Queryable,
  { organisationId }: OrganisationScope,
  assigned: AssignedIdentifier,
): Promise<{ value: string; isNew: boolean }> {
  const { rowCount } = await db.query({
    name: 'exchange-assign-identifier',
    text: `
      with added as (
        insert into patient_assigned_identifier (organisation_id, patient_id, connection_id, system, value,
          search_key, assigner, assigned_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict do nothing
        returning patient_id
      )
      update patient
      set version = version + 1,
          updated_at = $8
      where organisation_id = $1
        and id = any(array(select patient_id from added))`,
    values: [
      organisationId,
      assigned.patientId,
      assigned.connectionId,
      assigned.system,
      assigned.value,
      assigned.searchKey,
      assigned.assigner,
      assigned.assignedAt,
    ],
  });
  if (rowCount === 1) {
    await restoreAssignedSearchKeys(db, { organisationId }, [assigned.patientId]);
    return { value: assigned.value, isNew: true };
  }
  const { rows } = await db.query<{ value: string }>({
    name: 'exchange-assigned-identifier',
    text: `
      select value
      from patient_assigned_identifier
      where organisation_id = $1
        and patient_id = $2
        and connection_id = $3`,
    values: [organisationId, assigned.patientId, assigned.connectionId],
  });
  return { value: rows[0]?.value ?? '', isNew: false };
}

/** Make patients findable by their assigned ids, also after their search keys were written anew. */
export async function restoreAssignedSearchKeys(
  db: Queryable,
  { organisationId }: OrganisationScope,
  patientIds: readonly string[],
): Promise<void> {
  await db.query({
    name: 'exchange-assigned-search-keys',
    text: `
      insert into patient_search_key (organisation_id, patient_id, kind, key)
      select $1, patient_id, 'identifier', search_key
      from patient_assigned_identifier
      where organisation_id = $1
        and patient_id = any($2::uuid[])
        and search_key <> ''
      on conflict do nothing`,
    values: [organisationId, patientIds],
  });
}
