/** GET /imports and GET /imports/<id>: the imports of the facility. Contract: ADM-46, ADM-49, ADM-73. */

import { named } from '../../../platform/http/named-schema.ts';
import { type ListDependencies, onePage, PAGE_PARAMETERS } from '../../../platform/http/paging.ts';
import type { Route } from '../../../platform/http/route.ts';
import { Choice, Nullable } from '../../../platform/http/schema.ts';
import { Type } from '../../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../../tenancy/callers/access.ts';
import { ImportReportSchema } from '../import-report.schema.ts';
import { IMPORT_EXAMPLE, IMPORT_FILTERS, ImportSchema } from './kept-import.ts';
import { listImports, readImport } from './list-imports.ts';

const ACCESS = { permissions: ['records.import'], module: 'patients', purposeOfUse: 'none' } as const;

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
    { examples: [{ ...IMPORT_EXAMPLE, report: null }] },
  ),
);

export function listImportsRoute(deps: ListDependencies): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'listImports',
      summary: 'List the imports of the facility',
      description: 'Newest first, those that run among them. Dry runs are not kept.',
      tag: 'Records',
    },
    query: Type.Object({ state: Type.Optional(Choice(IMPORT_FILTERS)), ...PAGE_PARAMETERS }),
    responses: onePage(ImportSchema),
    handle: async ({ query }, { scope }) => ({ body: await listImports(deps, scope, query) }),
  });
}

export function readImportRoute(deps: Pick<ListDependencies, 'db'>): Route<Access> {
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
