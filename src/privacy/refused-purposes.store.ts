/** SQL of a patient's privacy setting. */
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Client, Queryable } from '../platform/db/database.ts';
import type { RegistrationScope } from '../tenancy/scope.ts';

/** Those of a patient who is registered at the facility. */
const SELECT = `
      select p.refused_purposes as "refusedPurposes"
      from patient_registration g
      join patient p
        on p.organisation_id = $1
        and p.id = g.patient_id
      where g.organisation_id = $1
        and g.facility_id = $2
        and g.patient_id = $3`;
const FIND = { name: 'patient-privacy-find', text: SELECT };
/**
 * So that of two changes at once the later one knows what the earlier one made. Not `for update`: that would wait for each import
 * that is writing records about the patient.
 */
const LOCK = { name: 'patient-privacy-lock', text: `${SELECT} for no key update of p` };

/** The purposes that a patient refuses. Undefined: no such patient is registered at the facility. */
export async function findRefusedPurposes(
  db: Queryable,
  scope: RegistrationScope,
  patientId: string,
  statement = FIND,
): Promise<PurposeOfUse[] | undefined> {
  const { rows } = await db.query<{ refusedPurposes: PurposeOfUse[] }>({
    ...statement,
    values: [scope.organisationId, scope.facilityId, patientId],
  });
  return rows[0]?.refusedPurposes;
}

/**
 * Make `refusedPurposes` the refused ones, in a transaction. Answers those of before. Undefined: no such patient is
 * registered at the facility.
 */
export async function replaceRefusedPurposes(
  client: Client,
  scope: RegistrationScope,
  { patientId, refusedPurposes }: { patientId: string; refusedPurposes: readonly PurposeOfUse[] },
): Promise<PurposeOfUse[] | undefined> {
  const standing = await findRefusedPurposes(client, scope, patientId, LOCK);
  if (standing === undefined) return undefined;
  await client.query({
    name: 'patient-privacy-replace',
    text: `
      update patient
      set refused_purposes = $3
      where organisation_id = $1
        and id = $2`,
    values: [scope.organisationId, patientId, refusedPurposes],
  });
  return standing;
}
