/** GET /patients/base/<id>/access-log: who read what of a patient, and why. Contract: LOG-18. */

import { PurposeOfUseSchema } from '../../fhir/purpose-of-use.ts';
import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, InstantText, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { TracedListDependencies } from '../authorise-access.ts';
import { ACCESS_ACTIONS } from './access-log.ts';
import { readAccessLog } from './read-access-log.ts';

const OUTCOMES = ['allowed', 'refused'] as const;

const EntrySchema = named(
  'AccessLogEntry',
  Type.Object(
    {
      occurredAt: InstantText('UTC instant.'),
      accountId: Type.String(),
      accountEmail: NullableText(),
      connectionName: NullableText('Name of the connection, if it was a delivery; otherwise null.'),
      action: Type.String({ description: 'What was done, such as `encounter.read`.' }),
      resourceType: Type.String(),
      resourceId: NullableText('null if the call was about many records.'),
      purposeOfUse: PurposeOfUseSchema,
      outcome: Choice(OUTCOMES, 'Whether the privacy setting allowed the access.'),
      correlationId: Type.String({ description: 'That of the call.' }),
    },
    {
      examples: [
        {
          occurredAt: '2026-01-10T10:30:00.123456Z',
          accountId: '4303826b-527a-4add-96a0-fba711adc287',
          accountEmail: 'ris@example.org',
          connectionName: null,
          action: 'encounter.read',
          resourceType: 'Encounter',
          resourceId: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
          purposeOfUse: 'TREATMENT',
          outcome: 'allowed',
          correlationId: '68203135-2e36-4fe2-9f7b-a8708c7c5b44',
        },
      ],
    },
  ),
);

const AccessLogQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description:
        'Only entries from this date or date-time on. A date without a zone is in the time zone of the facility.',
    }),
  ),
  to: Type.Optional(Type.String({ description: 'Only entries up to the end of this date or date-time.' })),
  account: Type.Optional(Type.String({ description: 'Only of the account with this id or email.' })),
  action: Type.Optional(Choice(ACCESS_ACTIONS, 'Only entries with this action.')),
  outcome: Type.Optional(Choice(OUTCOMES, 'Only entries with this outcome.')),
  ...PAGE_PARAMETERS,
});

export function readAccessLogRoute(deps: TracedListDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['patients.access-log.read'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readAccessLog',
        summary: "Read a patient's access log",
        description: 'What was done at this facility, newest first. The service also logs that you read it.',
        tag: 'Patients',
      },
      params: Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) }),
      query: AccessLogQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: pageSchema(EntrySchema, {
            keptFrom: Nullable(
              InstantText(),
              'Entries older than this UTC instant are in an archive; ask the operator for them. null if there is no archive.',
            ),
          }),
        },
      },
      handle: async ({ params, query }, context) => ({
        body: await readAccessLog(deps, { id: params.patientId, query }, context),
      }),
    },
  );
}
