/** PUT and GET /patients/base/<id>/privacy. Contract: LOG-6, ADM-40. */

import { PurposeOfUseSchema } from '../fhir/purpose-of-use.ts';
import type { Pool } from '../platform/db/database.ts';
import { named } from '../platform/http/named-schema.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { readPrivacy, setPrivacy } from './set-privacy.ts';

const PrivacySchema = named(
  'PatientPrivacy',
  Type.Object(
    {
      refusedPurposes: Type.Array(PurposeOfUseSchema, {
        maxItems: 16,
        description: 'The purposes of use that the patient refuses. An empty list refuses none.',
      }),
    },
    { additionalProperties: false, examples: [{ refusedPurposes: ['RESEARCH'] }] },
  ),
);

const PatientParams = Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) });

export function readPrivacyRoute(deps: { db: Pool; accessLog: AccessLog }): Route<Access> {
  return facilityRoute(
    {
      permissions: ['patients.privacy.manage', 'patients.patients.get'],
      module: 'patients',
      purposeOfUse: 'none',
    },
    {
      docs: {
        operationId: 'readPatientPrivacy',
        summary: 'Read the purposes of use that a patient refuses',
        description: "The service writes this call to the patient's access log.",
        tag: 'Patients',
      },
      params: PatientParams,
      responses: { 200: { description: 'The setting.', schema: PrivacySchema } },
      handle: async ({ params }, context) => ({ body: await readPrivacy(deps, params.patientId, context) }),
    },
  );
}

export function setPrivacyRoute(deps: { db: Pool; accessLog: AccessLog }): Route<Access> {
  return facilityRoute(
    { permissions: ['patients.privacy.manage'], module: 'patients', purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'setPatientPrivacy',
        summary: 'Change the purposes of use that a patient refuses',
        description: 'The new setting replaces the old one, from the next call on, in every process.',
        tag: 'Patients',
      },
      params: PatientParams,
      body: PrivacySchema,
      bodyExample: { refusedPurposes: ['RESEARCH'] },
      responses: { 200: { description: 'The new setting.', schema: PrivacySchema } },
      handle: async ({ params, body }, context) => ({
        body: await setPrivacy(deps, { ...body, ...params }, context),
      }),
    },
  );
}
