/** The imports of a facility, page by page, and one of them. Contract: ADM-46, ADM-49. */
import type { TimePosition } from '../../../clinical/fetch/patient-page.store.ts';
import {
  type ListDependencies,
  openPage,
  type Page,
  type PageRequest,
} from '../../../platform/http/paging.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { notFound } from '../../../tenancy/errors.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { ImportDocument } from '../import-report.ts';
import { findImportRun, listImportRuns } from './import-run.store.ts';
import type { ImportFilter, ImportState, ListedImport } from './kept-import.ts';

const INCOMPLETE: readonly ImportState[] = ['rejected', 'failed'];

/** Newest first. 400 for a cursor of another list. */
export async function listImports(
  { db, cursors }: ListDependencies,
  scope: FacilityScope,
  { state, ...request }: PageRequest & { state?: ImportFilter | undefined },
): Promise<Page<ListedImport>> {
  const binding = ['imports', scope.organisationId, scope.facilityId, state];
  const page = openPage<TimePosition>(cursors, request, binding);
  const states = state === 'incomplete' ? INCOMPLETE : state && [state];
  const runs = await listImportRuns(db, scope, { states, ...page.slice });
  return page.close(runs, ({ startedAt, id }) => [startedAt, id]);
}

/** 404 outside the facility. */
export async function readImport(
  { db }: Pick<ListDependencies, 'db'>,
  scope: FacilityScope,
  id: string,
): Promise<ListedImport & { report: ImportDocument | null }> {
  const found = isUuid(id) ? await findImportRun(db, scope, id) : undefined;
  if (found === undefined) throw notFound('The import');
  return found;
}
