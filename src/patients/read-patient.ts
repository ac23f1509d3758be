/** Read one patient: registered at the facility, allowed by the privacy setting, traced. Contract: PAT-6. */
import type { Queryable } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { notFound } from '../tenancy/errors.ts';
import { createPatientReader } from './patient.store.ts';
import type { LoadedPatient } from './patient.ts';

export interface ReadPatientDependencies {
  db: Queryable;
  accessLog: AccessLog;
}

/** 404 outside the scope; 403 when the purpose is refused. */
export function createReadPatient({
  db,
  accessLog,
}: ReadPatientDependencies): (id: string, context: FacilityContext) => Promise<LoadedPatient> {
  const readPatient = createPatientReader(db);
  return async (id, context) => {
    const { scope, purposeOfUse } = context;
    const patient = isUuid(id) ? await readPatient({ scope, purposeOfUse, id }) : undefined;
    if (patient === undefined) throw notFound('The patient');
    await authoriseAccess(accessLog, context, {
      patientId: patient.id,
      action: 'patient.read',
      resourceType: 'Patient',
      resourceId: patient.id,
      refusedPurposes: patient.refusedPurposes,
    });
    return patient;
  };
}
