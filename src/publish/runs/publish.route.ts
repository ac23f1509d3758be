/**
 * What the three publish routes and their histories share: parameters, answers, access.
 * Contract: PUB-5, PUB-6, PUB-7.
 */

import type { Static } from 'typebox';
import { PurposeOfUseSchema } from '../../fhir/purpose-of-use.ts';
import { decodeText } from '../../platform/http/body.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { type ListPublicationsDependencies, listPublications } from '../history/list-publications.ts';
import { PLANNED_FAULTS } from '../plan/plan-publish.ts';
import type { PublishSource } from '../plan/prepare-publish.ts';
import type { WithheldReason } from '../plan/referenced-records.ts';
import type { Publisher } from './publish.ts';

export interface PublishRouteOptions {
  /** Of the path, and of the answer: `orderId` or `vitalSetId`. */
  idName: 'orderId' | 'vitalSetId';
  /** As it is called in the documentation: `a laboratory order`. */
  what: string;
  /** `LabOrder`, for the operation ids. */
  operation: string;
  permission: Permission;
  module: Module;
  source: PublishSource;
}

/** What is published, in the names of schemas. */
const SUBJECTS = { orderId: 'Order', vitalSetId: 'VitalSet' } as const;
const METHODS = ['PUT', 'POST'] as const;
const OUTCOMES = ['done', 'failed', 'interrupted', 'running'] as const;

const RECORD_ID = '7600924d-2ca4-4cd0-9251-2306b698ef8b';
const target = Type.String({ examples: ['national'] });

const PublishedSchema = named(
  'PublishedResource',
  Type.Object(
    {
      resourceType: Type.String(),
      localId: Type.String({ description: 'Id of the record in this service.' }),
      id: Type.String({ minLength: 1, description: 'Id of the resource at the target.' }),
      versionId: NullableText('Version of the resource at the target. null if the target does not say.'),
      method: Choice(METHODS),
      status: Type.Integer({ description: 'HTTP status that the target answered.' }),
      publishedAt: Type.String({ format: 'date-time' }),
    },
    {
      examples: [
        {
          resourceType: 'Observation',
          localId: '3c2b36d2-f424-47bb-a427-a2bfa9576f64',
          id: '3c2b36d2-f424-47bb-a427-a2bfa9576f64',
          versionId: '1',
          method: 'PUT',
          status: 201,
          publishedAt: '2026-01-10T11:00:00.250Z',
        },
      ],
    },
  ),
);

const NotSentSchema = named(
  'NotSent',
  Type.Object(
    {
      element: Type.String({
        description: 'The element that names the record.',
        examples: ['Observation.focus'],
      }),
      resourceType: Type.String({ examples: ['Patient'] }),
      localId: Type.String({
        description: 'Id of the record in this service.',
        examples: ['b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b'],
      }),
      reason: Choice<WithheldReason>(
        ['refused', 'unavailable'],
        'refused: the patient refuses this purpose of use. unavailable: the record belongs to another facility, or does not exist.',
      ),
    },
    {
      description:
        'A record of another patient that is named, but not sent: the target gets only our identifier.',
    },
  ),
);
const notSent = Type.Optional(Type.Array(NotSentSchema, { description: 'Absent if there are none.' }));

const PlannedSchema = named(
  'PlannedRequest',
  Type.Object({
    resourceType: Type.String(),
    localId: Type.String(),
    id: NullableText('Id of the resource at the target. null if the target has not assigned one yet.'),
    method: Choice(METHODS),
    url: Type.String(),
    step: Type.Integer({
      description: 'Number of the step. Requests of one step are sent at the same time.',
    }),
    resource: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'The body. Absent if the caller may not read that record with another call.',
        },
      ),
    ),
  }),
);

const DryRunMembers = {
  dryRun: Type.Literal(true),
  requests: Type.Array(PlannedSchema),
  unmapped: Type.Array(
    named(
      'PublishUnmappedCode',
      Type.Object({
        resourceType: Type.String(),
        localId: Type.String(),
        system: NullableText('The system of the local code.'),
        code: Type.String(),
      }),
    ),
  ),
  faults: Type.Array(
    named(
      'PublishFault',
      Type.Object({
        resourceType: Type.String(),
        localId: Type.String(),
        code: Choice(PLANNED_FAULTS, 'Which fault it is; it stays when the words of `fault` change.'),
        reference: NullableText('The record that it refers to, as Type/id. null: it is about a code.'),
        fault: Type.String(),
      }),
    ),
  ),
  notSent,
};

const RunSchema = named(
  'PublishRun',
  Type.Object({
    id: Type.String({ examples: ['01a1fc08-7c3e-7b0d-a2a4-9f1d60a8e5c3'] }),
    target,
    startedAt: Type.String({ format: 'date-time', examples: ['2026-01-10T11:00:00.100Z'] }),
    finishedAt: Nullable(
      Type.String({ format: 'date-time', examples: ['2026-01-10T11:00:00.300Z'] }),
      'null while it runs.',
    ),
    outcome: Choice(
      OUTCOMES,
      'interrupted: the process ended before the publish did. The next publish continues.',
    ),
    failure: NullableText('The error message, if the publish failed.'),
    accountId: Type.String({ examples: ['4303826b-527a-4add-96a0-fba711adc287'] }),
    purposeOfUse: PurposeOfUseSchema,
    correlationId: Type.String({ examples: ['68203135-2e36-4fe2-9f7b-a8708c7c5b44'] }),
    published: Type.Array(PublishedSchema),
  }),
);

const PublishQuery = Type.Object({
  target: Type.Optional(
    Type.String({ maxLength: 63, description: 'Name of a target. Default: the default target.' }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'If true, the answer says what would be sent, and nothing is sent.',
    }),
  ),
});

/** What a publish answers, and what a dry run answers in its place. */
function resultSchema(idName: PublishRouteOptions['idName']) {
  const subject = SUBJECTS[idName];
  const key = { [idName]: Type.String({ examples: [RECORD_ID] }), target };
  return named(
    `${subject}PublishAnswer`,
    Type.Union([
      named(`Published${subject}`, Type.Object({ ...key, published: Type.Array(PublishedSchema), notSent })),
      named(`${subject}PublishDryRun`, Type.Object({ ...key, ...DryRunMembers })),
    ]),
  );
}

/** POST: publish it. */
export function publishRoute(
  { publisher }: { publisher: Publisher },
  options: PublishRouteOptions,
): Route<Access> {
  const { idName, source, what } = options;
  return facilityRoute(access(options), {
    docs: {
      operationId: `publish${options.operation}`,
      summary: `Publish ${what} to an external FHIR server`,
      description:
        'The call takes no body. A resource is sent after those that it refers to: an order, then its results, then its reports. A second publish updates the same resources. After a failure it continues where the first one stopped.',
      tag: 'Publishing',
    },
    params: pathParams(options),
    query: PublishQuery,
    bodyMode: 'raw',
    responses: {
      200: {
        description: 'What the target has now; with dryRun, what would be sent.',
        schema: resultSchema(idName),
      },
      409: { description: 'The record now belongs to another patient. Nothing was sent.' },
      422: {
        description:
          'Local codes without a standard code, each one named; or the record is too large for one answer.',
      },
      502: { description: 'The target did not store everything. Publish again to continue.' },
      503: { description: 'No target is configured, or another publish of the same records is running.' },
    },
    async handle({ params, query: { target, dryRun }, body }, context) {
      requireNoBody(body as unknown as Uint8Array);
      const id = idOf(params);
      const answer = await publisher[dryRun === true ? 'plan' : 'publish'](source, { id, target }, context);
      return { body: { [idName]: id.toLowerCase(), ...answer } };
    },
  });
}

/** GET on the same path: every publish of it, newest first. */
export function publicationsRoute(
  deps: ListPublicationsDependencies,
  options: PublishRouteOptions,
): Route<Access> {
  const { idName, source, what } = options;
  return facilityRoute(access(options), {
    docs: {
      operationId: `list${options.operation}Publications`,
      summary: `List the publishes of ${what}`,
      description: 'Newest first. Each entry says what the publish stored and why it stopped.',
      tag: 'Publishing',
    },
    params: pathParams(options),
    query: Type.Object(PAGE_PARAMETERS),
    responses: {
      200: {
        description: 'One page.',
        schema: named(
          `${SUBJECTS[idName]}PublishRunPage`,
          pageSchema(RunSchema, { [idName]: Type.String({ examples: [RECORD_ID] }) }),
        ),
      },
    },
    async handle({ params, query }, context) {
      const id = idOf(params);
      const page = await listPublications(deps, { ...query, source, id }, context);
      return { body: { [idName]: id.toLowerCase(), ...page } };
    },
  });
}

function access({ permission, module }: PublishRouteOptions) {
  return {
    permissions: [permission],
    module,
    alsoModules: ['publish'] as const,
    purposeOfUse: 'default' as const,
  };
}

/** Nothing is read of a body, so nobody may think that it is. `{}` is what some clients send for nothing. */
function requireNoBody(bytes: Uint8Array): void {
  if (!/^(?:\{\s*\})?$/.test(decodeText(bytes).trim()))
    throw badRequest(
      {
        en: 'This call takes no body. Leave it out, and name the target with ?target=.',
        fr: 'Cet appel ne prend pas de corps. Omettez-le, et nommez la cible avec ?target=.',
      },
      'body_given',
    );
}

function pathParams({ idName }: PublishRouteOptions) {
  return Type.Object({ [idName]: Type.String({ description: 'UUID.' }) });
}

function idOf(params: Static<ReturnType<typeof pathParams>>): string {
  return String(Object.values(params)[0]);
}
