/** GET /publish/targets: what the facility can publish to, and how each target does. Contract: ADM-41, ADM-42. */

import type { Queryable } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import { listSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Instant, Nullable } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { Publisher } from '../runs/publish.ts';
import { BREAKER_STATES } from '../send/breaker.ts';
import { AUTHENTICATIONS, ID_POLICIES, REFERENCE_POLICIES } from '../servers/fhir-server.ts';
import { listTargets } from './list-targets.ts';

const SCOPES = ['organisation', 'deployment'] as const;

const TargetSchema = named(
  'PublishTarget',
  Type.Object(
    {
      name: Type.String(),
      base: Type.String(),
      auth: Choice(AUTHENTICATIONS),
      idPolicy: Choice(ID_POLICIES),
      references: Choice(REFERENCE_POLICIES),
      allowLocalCodes: Type.Boolean(),
      scope: Choice(SCOPES, 'deployment: all organisations use it.'),
      default: Type.Boolean({ description: 'true: a publish that names no target goes here.' }),
      enabled: Type.Boolean({ description: 'false: a publish to it is answered 503.' }),
      state: Choice(
        BREAKER_STATES,
        'As the process that answers knows it. open: nothing is sent for some seconds, because the target did not answer. probing: the next publish tries again.',
      ),
      lastSuccessAt: Nullable(Instant(), 'Of the last 200 publishes of the facility. null: none of them.'),
      lastFailure: Nullable(
        named('PublishTargetFailure', Type.Object({ at: Instant(), message: Type.String() })),
      ),
    },
    {
      examples: [
        {
          name: 'national',
          base: 'https://fhir.example.org/r4',
          auth: 'bearer',
          idPolicy: 'client',
          references: 'send',
          allowLocalCodes: false,
          scope: 'deployment',
          default: true,
          enabled: true,
          state: 'closed',
          lastSuccessAt: '2026-01-10T11:00:00.300Z',
          lastFailure: null,
        },
      ],
    },
  ),
);

export function listTargetsRoute(deps: { db: Queryable; publisher: Publisher }): Route<Access> {
  return facilityRoute(
    {
      permissions: [
        'publish.publications.read',
        'investigations.lab.release',
        'investigations.imaging.write',
        'encounters.vitals.manage',
      ],
      module: 'publish',
      purposeOfUse: 'none',
    },
    {
      docs: {
        operationId: 'listPublishTargets',
        summary: 'List the targets that the facility can publish to',
        description: 'With their state, and without anything secret. The operator adds and changes targets.',
        tag: 'Publishing',
      },
      responses: {
        200: { description: 'All of them.', schema: listSchema(TargetSchema) },
      },
      handle: async (_request, { scope }) => ({ body: { items: await listTargets(deps, scope) } }),
    },
  );
}
