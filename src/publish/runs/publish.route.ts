/**
 * What the three publish routes and their histories share: parameters, answers, access.
 * Contract: PUB-5, PUB-6, PUB-7.
 */

import type { Static } from 'typebox';
import { badRequest } from '../../platform/http/errors.ts';
import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import type { TracedListDependencies } from '../../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { listPublications } from '../history/list-publications.ts';
import type { PublishSource } from '../plan/prepare-publish.ts';
import { PlanSchema, PublishedSchema, RunSchema } from '../publish.schema.ts';
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
const RECORD_ID = '7600924d-2ca4-4cd0-9251-2306b698ef8b';

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
  const key = { [idName]: Type.String({ examples: [RECORD_ID] }) };
  return named(
    `${subject}PublishAnswer`,
    Type.Union([
      named(`Published${subject}`, Type.Object({ ...key, ...PublishedSchema.properties })),
      named(`${subject}PublishDryRun`, Type.Object({ ...key, ...PlanSchema.properties })),
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
      409: {
        description:
          'The record, or a part of it, now belongs to another patient or record. What was stored before is recorded.',
      },
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
      const send = publisher[dryRun === true ? 'plan' : 'publish'];
      const { recordId, ...answer } = await send(source, { id, target }, context);
      return { body: { [idName]: recordId, ...answer } };
    },
  });
}

/** GET on the same path: every publish of it, newest first. */
export function publicationsRoute(deps: TracedListDependencies, options: PublishRouteOptions): Route<Access> {
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
  if (!/^\s*(?:\{\s*\}\s*)?$/.test(Buffer.from(bytes).toString()))
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
