/** Reads the record of changes: by page, or all of it as a file. Contract: ADM-32, ADM-33. */

import { csvCell } from '../../platform/csv-cell.ts';
import {
  everyPage,
  type ListDependencies,
  openPage,
  type Page,
  type PageRequest,
  type Slice,
} from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../scope.ts';
import { type AuditFilter, type AuditPosition, type AuditRow, listAudit } from './audit-list.store.ts';

export type { AuditFilter };

/** Awaited before entries are shown: what they say of a patient has to be in that patient's access log. */
export type OnAuditShown = (rows: readonly AuditRow[]) => Promise<void>;

export interface AuditDependencies extends ListDependencies {
  onShown: OnAuditShown;
}

/** 400 for a cursor of another list. */
export async function listAuditPage(
  { db, cursors, onShown }: AuditDependencies,
  scope: OrganisationScope,
  { filter, binding, ...request }: PageRequest & { filter: AuditFilter; binding: readonly string[] },
): Promise<Page<AuditRow>> {
  const page = openPage<AuditPosition>(cursors, request, binding);
  const shown = page.close(await listAudit(db, scope, { ...page.slice, filter }), auditPosition);
  await onShown(shown.items);
  return shown;
}

type AuditItem = ReturnType<typeof auditItem>;

/** As it is shown; `facilityId` where it concerns one facility. */
export function auditItem(row: AuditRow) {
  const { id, at, action, before, after, correlationId, facilityIds } = row;
  const [facilityId, second] = facilityIds ?? [];
  return {
    id,
    at,
    actor: {
      kind: row.actorKind,
      ...(row.actorId === null ? {} : { id: row.actorId }),
      ...(row.actorEmail === null ? {} : { email: row.actorEmail }),
    },
    action,
    subject: {
      type: row.subjectType,
      id: row.subjectId,
      ...(row.subjectName === null ? {} : { name: row.subjectName }),
    },
    ...(facilityId === undefined || second !== undefined ? {} : { facilityId }),
    before,
    after,
    correlationId,
  };
}

const auditPosition = ({ at, id }: Pick<AuditRow, 'at' | 'id'>): AuditPosition => [at.toISOString(), id];

export const AUDIT_FORMATS = {
  csv: { contentType: 'text/csv; charset=utf-8', fileName: 'administration-audit.csv' },
  ndjson: { contentType: 'application/x-ndjson', fileName: 'administration-audit.ndjson' },
} as const;
export type AuditFormat = keyof typeof AUDIT_FORMATS;

const ROWS_IN_PAGE = 1_000;
/** What stands in each column of a CSV file. */
const CELLS: Readonly<Record<string, (item: AuditItem) => string | undefined>> = {
  at: ({ at }) => at.toISOString(),
  actor_kind: ({ actor }) => actor.kind,
  actor_id: ({ actor }) => actor.id,
  actor_email: ({ actor }) => actor.email,
  action: ({ action }) => action,
  subject_type: ({ subject }) => subject.type,
  subject_id: ({ subject }) => subject.id,
  subject_name: ({ subject }) => subject.name,
  facility_id: ({ facilityId }) => facilityId,
  before: ({ before }) => JSON.stringify(before),
  after: ({ after }) => JSON.stringify(after),
  correlation_id: ({ correlationId }) => correlationId,
  id: ({ id }) => id,
};

/** All that the filter means, in bounded memory. */
export async function* exportAudit(
  { db, onShown }: Pick<AuditDependencies, 'db' | 'onShown'>,
  scope: OrganisationScope,
  { filter, format }: { filter: AuditFilter; format: AuditFormat },
): AsyncGenerator<string> {
  let heading = format === 'csv' ? `${Object.keys(CELLS).join(',')}\r\n` : '';
  const line = format === 'csv' ? csvLine : (item: AuditItem) => `${JSON.stringify(item)}\n`;
  const read = (slice: Slice<AuditPosition>) => listAudit(db, scope, { ...slice, filter });
  for await (const page of everyPage(ROWS_IN_PAGE, read, auditPosition)) {
    await onShown(page);
    yield heading + page.map((row) => line(auditItem(row))).join('');
    heading = '';
  }
  if (heading !== '') yield heading;
}

function csvLine(item: AuditItem): string {
  const cells = Object.values(CELLS).map((cellOf) => csvCell(cellOf(item) ?? ''));
  return `${cells.join(',')}\r\n`;
}
