/**
 * SQL of patients who were replaced by another record of the same person (R4, Patient.link): either of the two may say it.
 * Contract: PAT-11, PAT-12.
 */
import { rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { RegistrationScope } from '../tenancy/scope.ts';

/** For whom it is asked, as SQL. */
export interface Viewer {
  facilityId: string;
  purposeOfUse: string;
}

/**
 * SQL that is true when another patient may be named to the viewer. A facility learns of nobody who is registered
 * elsewhere only, nor of those who refuse the purpose. Where the purpose is null, it learns of those who refuse none.
 * Not `exists`: the planner may answer that by reading every registration of the facility.
 */
export function mayBeNamed(patientId: string, { facilityId, purposeOfUse }: Viewer): string {
  return `(
    select not ${purposeOfUse} = any(named.refused_purposes)
    from patient_registration here
    join patient named
      on named.organisation_id = $1
      and named.id = here.patient_id
    where here.organisation_id = $1
      and here.facility_id = ${facilityId}
      and here.patient_id = ${patientId}
  ) is true`;
}

/** A lateral look-up of those who replace one patient. */
export function replacementsOf(patientId: string): string {
  return rowByKey('patient_link', 'l', { replaced_id: patientId }, 'l.survivor_id');
}

/** SQL of the patient who replaces the one in `patientId` and may be named to the viewer; null for none. */
export function survivorOf(patientId: string, viewer: Viewer): string {
  return `(
    select l.survivor_id
    from patient_link l
    where l.organisation_id = $1
      and l.replaced_id = ${patientId}
      and ${mayBeNamed('l.survivor_id', viewer)}
    order by l.survivor_id
    limit 1
  )`;
}

/** Those of the patients who were replaced by another one at the facility. It tells nobody by whom. */
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
      cross join lateral (
        select
        from ${replacementsOf('asked.id')} x
        cross join ${rowByKey('patient_registration', 'r', { facility_id: '$2', patient_id: 'x.survivor_id' }, '')} r
        limit 1
      ) replaced`,
    values: [organisationId, facilityId, patientIds],
  });
  return new Set(rows.map(({ id }) => id));
}
