/** GET /imports and GET /imports/<id>: the imports of the facility. Contract: ADM-46, ADM-49, ADM-73. */

import { named } from '../../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../../platform/http/paging.ts';
import type { Route } from '../../../platform/http/route.ts';
import { Choice, InstantText, Nullable, NullableText } from '../../../platform/http/schema.ts';
import { Type } from '../../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../../tenancy/callers/access.ts';
import { ImportReportSchema } from '../import-report.schema.ts';
import { IMPORT_CONTENTS, IMPORT_STATES, IMPORT_WAYS } from './kept-import.ts';
import { type ListImportsDependencies, listImports, readImport } from './list-imports.ts';

const ACCESS = { permissions: ['records.import'], module: 'patients', purposeOfUse: 'none' } as const;

const EXAMPLE = {
  id: '01a1fc08-7c3e-4b0d-a2a4-9f1d60a8e5c3',
  state: 'finished',
  startedAt: '2026-01-10T11:00:00.100Z',
  finishedAt: '2026-01-10T11:00:02.300Z',
  startedBy: {
    kind: 'account',
    id: '4303826b-527a-4add-96a0-fba711adc287',
    email: 'lab-system@hospital.example',
  },
  way: 'http',
  fileName: 'march.ndjson',
  content: 'lines',
  progress: { files: 1, totalBytes: 48_120, doneBytes: 48_120, resources: 8, rejected: 0 },
  failure: null,
};

const ImportSchema = named(
  'Import',
  Type.Object(
    {
      id: Type.String(),
      state: Choice(
        IMPORT_STATES,
        'finished: everything was taken. rejected: it came to its end, and something was not taken. failed: it did not come to its end.',
      ),
      startedAt: InstantText(),
      finishedAt: Nullable(InstantText(), 'null while it runs.'),
      startedBy: named(
        'ImportStarter',
        Type.Object({
          kind: Choice(['account', 'operator'] as const, 'operator: the command interchange import.'),
          id: Type.Optional(Type.String()),
          email: Type.Optional(NullableText()),
        }),
      ),
      way: Choice(IMPORT_WAYS),
      fileName: NullableText(
        'As whoever began it named it. null: no name was given, or there were several files.',
      ),
      content: Nullable(
        Choice(IMPORT_CONTENTS),
        'lines: NDJSON. null: not known yet, nothing of the kind, or several files that differ.',
      ),
      progress: named(
        'ImportProgress',
        Type.Object(
          {
            files: Type.Integer(),
            totalBytes: Type.Integer({ description: 'Of all files. 0 while the body is on its way.' }),
            doneBytes: Type.Integer(),
            resources: Type.Integer({ description: 'Resources that were taken.' }),
            rejected: Type.Integer(),
          },
          { description: 'Written once a second while it runs.' },
        ),
      ),
      failure: NullableText('Why it failed.'),
    },
    { examples: [EXAMPLE] },
  ),
);

const ImportDetailSchema = named(
  'ImportDetail',
  Type.Intersect(
    [
      ImportSchema,
      Type.Object({
        report: Nullable(
          ImportReportSchema,
          'As the import answered, at most 500 of each list. It names files by their number. null while it runs, and when it failed.',
        ),
      }),
    ],
    { examples: [{ ...EXAMPLE, report: null }] },
  ),
);

export function listImportsRoute(deps: ListImportsDependencies): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'listImports',
      summary: 'List the imports of the facility',
      description: 'Newest first, those that run among them. Dry runs are not kept.',
      tag: 'Records',
    },
    query: Type.Object({ state: Type.Optional(Choice(IMPORT_STATES)), ...PAGE_PARAMETERS }),
    responses: { 200: { description: 'One page.', schema: pageSchema(ImportSchema) } },
    handle: async ({ query }, { scope }) => ({ body: await listImports(deps, scope, query) }),
  });
}

export function readImportRoute(deps: Pick<ListImportsDependencies, 'db'>): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'readImport',
      summary: 'Read one import, with its progress or its report',
      tag: 'Records',
    },
    params: Type.Object({ importId: Type.String({ description: 'UUID of the import.' }) }),
    responses: {
      200: {
        description: 'The import.',
        schema: ImportDetailSchema,
      },
    },
    handle: async ({ params }, { scope }) => ({ body: await readImport(deps, scope, params.importId) }),
  });
}
