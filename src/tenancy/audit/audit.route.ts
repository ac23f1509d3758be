/** GET /administration/audit and …/export: who changed what. Contract: ADM-32, ADM-33. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { badRequest } from '../../platform/http/errors.ts';
import { named } from '../../platform/http/named-schema.ts';
import { type ListDependencies, mapPage, PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Instant } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, administrationRoute, type FacilityContext } from '../callers/access.ts';
import { AUDIT_ACTIONS, SUBJECT_TYPES } from './audit-entry.ts';
import { auditFilterOf, type GivenAuditFilter } from './audit-filter.ts';
import {
  AUDIT_FORMATS,
  type AuditFilter,
  type AuditFormat,
  auditItem,
  exportAudit,
  listAuditPage,
  type OnAuditShown,
} from './list-audit.ts';

const PERMISSIONS = ['administration.audit.read'] as const;

const text = (description: string) => Type.Optional(Type.String({ maxLength: 320, description }));
const FILTER = {
  actor: text('Only changes by this account, by id or email, or by `operator`.'),
  action: Type.Optional(Choice(AUDIT_ACTIONS, 'Only this action.')),
  subject: text('Only changes of the account, role or other thing with this id or name.'),
  since: text('Only changes from this date or date-time on.'),
  until: text('Only changes before this date or date-time.'),
};

const members = Type.Object({}, { additionalProperties: true });
const AuditItemSchema = named(
  'AuditEntry',
  Type.Object(
    {
      id: Type.String(),
      at: Instant(),
      actor: named(
        'AuditActor',
        Type.Object({
          kind: Choice(['account', 'operator'] as const),
          id: Type.Optional(Type.String()),
          email: Type.Optional(Type.String({ description: 'As it was then.' })),
        }),
      ),
      action: Type.String(),
      subject: named(
        'AuditSubject',
        Type.Object({
          type: Choice(SUBJECT_TYPES),
          id: Type.String(),
          name: Type.Optional(Type.String({ description: 'As it was then.' })),
        }),
      ),
      facilityId: Type.Optional(Type.String({ description: 'If it concerns one facility.' })),
      before: members,
      after: members,
      correlationId: Type.String({ description: 'That of the call.' }),
    },
    {
      examples: [
        {
          id: '0d2f4f86-4f0f-4ad8-9d4d-2a5b6c7d8e9f',
          at: '2026-01-10T08:00:00.000Z',
          actor: {
            kind: 'account',
            id: '4303826b-527a-4add-96a0-fba711adc287',
            email: 'admin@example.org',
          },
          action: 'account.disable',
          subject: { type: 'account', id: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43', name: 'ris@example.org' },
          facilityId: '1ad45065-64ba-4128-b0b5-1666625efdaf',
          before: { disabled: false },
          after: { disabled: true },
          correlationId: '68203135-2e36-4fe2-9f7b-a8708c7c5b44',
        },
      ],
    },
  ),
);

const EXAMPLE_ROW = 'at,actor_kind,…\r\n2026-01-10T08:00:00.000Z,account,…\r\n';

/** `traceShown`: enters what the caller is shown of patients in their access logs. */
type RouteDependencies = ListDependencies & {
  traceShown: (context: FacilityContext) => OnAuditShown;
};

export function listAuditRoute(deps: RouteDependencies): Route<Access> {
  return administrationRoute(PERMISSIONS, {
    docs: {
      operationId: 'listAdministrationAudit',
      summary: 'List who changed what in the administration',
      description: 'Changes of the whole organisation, and of the facilities that your account may use.',
    },
    query: Type.Object({ ...FILTER, ...PAGE_PARAMETERS }),
    responses: { 200: { description: 'Newest first.', schema: pageSchema(AuditItemSchema) } },
    handle: async ({ query: { limit, cursor, ...given } }, context) => {
      const filter = filterOf(given, context);
      const { organisationId, accountId } = context.caller;
      const binding = ['audit', organisationId, accountId, JSON.stringify(given)];
      const traced = { ...deps, onShown: deps.traceShown(context) };
      const page = await listAuditPage(traced, context.scope, { filter, binding, limit, cursor });
      return { body: mapPage(page, auditItem) };
    },
  });
}

export function exportAuditRoute({
  db,
  traceShown,
}: Pick<RouteDependencies, 'db' | 'traceShown'>): Route<Access> {
  return administrationRoute(PERMISSIONS, {
    docs: {
      operationId: 'exportAdministrationAudit',
      summary: 'Export who changed what in the administration',
      description: 'In CSV, a cell that a spreadsheet could run as a formula begins with an apostrophe.',
    },
    query: Type.Object({ format: Choice(Object.keys(AUDIT_FORMATS) as AuditFormat[]), ...FILTER }),
    responses: {
      200: {
        description: 'The file, newest first.',
        contents: {
          'text/csv': Type.String({ examples: [EXAMPLE_ROW] }),
          'application/x-ndjson': Type.String({
            examples: ['{"id":"0d2f4f86-4f0f-4ad8-9d4d-2a5b6c7d8e9f"}\n'],
          }),
        },
        headers: ['content-disposition'],
      },
    },
    handle: async ({ query: { format, ...given } }, context) => {
      const { contentType, fileName } = AUDIT_FORMATS[format];
      const traced = { db, onShown: traceShown(context) };
      const lines = exportAudit(traced, context.scope, { filter: filterOf(given, context), format });
      return {
        contentType,
        headers: { 'content-disposition': `attachment; filename="${fileName}"` },
        body: await started(Readable.from(lines, { objectMode: false })),
      };
    },
  });
}

/** Once its first piece is there: what failed until then is answered as an error. */
async function started(stream: Readable): Promise<Readable> {
  await once(stream, 'readable');
  return stream;
}

function filterOf(given: GivenAuditFilter, { caller, scope }: FacilityContext): AuditFilter {
  const refuse = (name: string) =>
    badRequest({
      en: `${name} must be a date or a date-time with a zone, such as 2026-03-01.`,
      fr: `${name} doit être une date, ou une date avec heure et fuseau, par exemple 2026-03-01.`,
    });
  const filter = auditFilterOf(given, { timeZone: scope.timeZone, refuse });
  return { ...filter, facilityIds: [...caller.facilities.keys()] };
}
