/** PUT /patients/base/<id>/privacy. Contract: LOG-6. */
import Type from 'typebox';
import { PURPOSES_OF_USE } from '../fhir/purpose-of-use.ts';
import type { Pool } from '../platform/db/database.ts';
import type { Route } from '../platform/http/route.ts';
import { Choice } from '../platform/http/schema.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { setPrivacy } from './set-privacy.ts';

const PrivacySchema = Type.Object(
  {
    refusedPurposes: Type.Array(Choice(PURPOSES_OF_USE), {
      maxItems: 16,
      description: 'The purposes of use that the patient refuses. An empty list refuses none.',
    }),
  },
  { additionalProperties: false, examples: [{ refusedPurposes: ['RESEARCH'] }] },
);

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
      params: Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) }),
      body: PrivacySchema,
      bodyExample: { refusedPurposes: ['RESEARCH'] },
      responses: { 200: { description: 'The new setting.', schema: PrivacySchema } },
      handle: async ({ params, body }, { scope, caller, correlationId }) => ({
        body: await setPrivacy(
          deps,
          { patientId: params.patientId, refusedPurposes: body.refusedPurposes },
          { ...scope, accountId: caller.accountId, correlationId },
        ),
      }),
    },
  );
}
