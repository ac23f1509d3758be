/**
 * SQL of patients who were replaced by another record of the same person (R4, Patient.link): either of the two may say it.
 * Contract: PAT-11.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { RegistrationScope } from './patient.ts';

/** SQL of a table with the columns replaced_id and survivor_id, of the organisation `$1`. */
export const REPLACEMENTS = `(
    select l.patient_id as replaced_id, l.other_id as survivor_id
    from patient_link l
    where l.organisation_id = $1
      and l.other_id is not null
      and l.type = 'replaced-by'
    union all
    select l.other_id, l.patient_id
    from patient_link l
    where l.organisation_id = $1
      and l.other_id is not null
      and l.type = 'replaces'
  )`;

/** SQL of the patient who replaces the one in `patientId` at the facility; null for none. */
export function survivorOf(patientId: string, facilityId: string): string {
  return `(
    select x.survivor_id
    from ${REPLACEMENTS} x
    join patient_registration at
      on at.organisation_id = $1
      and at.facility_id = ${facilityId}
      and at.patient_id = x.survivor_id
    where x.replaced_id = ${patientId}
    order by x.survivor_id
    limit 1
  )`;
}

/** Those of the patients who were replaced by another one at the facility. */
export async function replacedAmong(
  db: Queryable,
  { organisationId, facilityId }: RegistrationScope,
  patientIds: readonly string[],
): Promise<Set<string>> {
  if (patientIds.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>({
    name: 'patients-replaced-among',
    text: `select asked.id
      from unnest($3::uuid[]) as asked (id)
      where ${survivorOf('asked.id', '$2')} is not null`,
    values: [organisationId, facilityId, patientIds],
  });
  return new Set(rows.map(({ id }) => id));
}
