/** SQL of a patient's privacy setting. */

import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface PrivacyScope {
  readonly organisationId: string;
  readonly facilityId: string;
}

/** Make `refusedPurposes` the refused ones. False: no such patient is registered at the facility. */
export async function replaceRefusedPurposes(
  db: Queryable,
  scope: PrivacyScope,
  setting: { patientId: string; refusedPurposes: readonly PurposeOfUse[] },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'patient-privacy-replace',
    text: `
      update patient p
      set refused_purposes = $4
      from patient_registration g
      where p.organisation_id = $1
        and p.id = $3
        and g.organisation_id = $1
        and g.facility_id = $2
        and g.patient_id = $3`,
    values: [scope.organisationId, scope.facilityId, setting.patientId, setting.refusedPurposes],
  });
  return rowCount === 1;
}

/** The purposes that a patient refuses. Undefined: no such patient is registered at the facility. */
export async function findRefusedPurposes(
  db: Queryable,
  scope: PrivacyScope,
  patientId: string,
): Promise<PurposeOfUse[] | undefined> {
  const { rows } = await db.query<{ refusedPurposes: PurposeOfUse[] }>({
    name: 'patient-privacy-find',
    text: `
      select p.refused_purposes as "refusedPurposes"
      from patient_registration g
      join patient p
        on p.organisation_id = $1
        and p.id = g.patient_id
      where g.organisation_id = $1
        and g.facility_id = $2
        and g.patient_id = $3`,
    values: [scope.organisationId, scope.facilityId, patientId],
  });
  return rows[0]?.refusedPurposes;
}
