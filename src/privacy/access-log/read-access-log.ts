/** Read a patient's access log; the reading is itself entered before it is answered. Contract: LOG-18. */
import { parseDateTime } from '../../fhir/date-time.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import { readKeptFrom } from '../archive/archive.store.ts';
import { authoriseAccess, type TracedListDependencies } from '../authorise-access.ts';
import { privacyError } from '../errors.ts';
import { findRefusedPurposes } from '../refused-purposes.store.ts';
import type { AccessEntry } from './access-log.ts';
import {
  type AccessLogFilter,
  type AccessLogPosition,
  loadAccessLogPage,
  type ShownEntry,
} from './read-access-log.store.ts';

/** As asked for; dates as text. */
export interface AccessLogQuery extends PageRequest {
  from?: string;
  to?: string;
  account?: string;
  action?: string;
  outcome?: AccessEntry['outcome'];
}

/** 400 for an invalid filter or cursor; 404 outside the scope; 403 when the purpose is refused. */
export async function readAccessLog(
  { db, accessLog, cursors }: TracedListDependencies,
  { id, query }: { id: string; query: AccessLogQuery },
  context: FacilityContext,
): Promise<Page<ShownEntry> & { keptFrom: string | null }> {
  const { scope } = context;
  const patientId = id.toLowerCase();
  const filter = parseFilter(query, scope.timeZone);
  const binding = [
    'access-log',
    scope.organisationId,
    scope.facilityId,
    patientId,
    query.from,
    query.to,
    query.account,
    query.action,
    query.outcome,
  ];
  const page = openPage<AccessLogPosition>(cursors, query, binding);
  const refusedPurposes = isUuid(patientId) ? await findRefusedPurposes(db, scope, patientId) : undefined;
  if (refusedPurposes === undefined) throw notFound('The patient');
  const found = await loadAccessLogPage(db, scope, { patientId, filter, ...page.slice });
  await authoriseAccess(accessLog, context, {
    patientId,
    action: 'access-log.read',
    resourceType: 'AccessLog',
    resourceId: null,
    refusedPurposes,
  });
  const entries = page.close(found, ({ position }) => position);
  return { ...mapPage(entries, ({ entry }) => entry), keptFrom: await readKeptFrom(db) };
}

function parseFilter(
  { from, to, account, action, outcome }: AccessLogQuery,
  timeZone: string,
): AccessLogFilter {
  const isEmail = account?.includes('@') === true;
  if (account !== undefined && !isEmail && !isUuid(account))
    throw privacyError('bad_filter', { field: 'account', kind: 'account' });
  return {
    from: from === undefined ? undefined : spanOf('from', from, timeZone).start,
    before: to === undefined ? undefined : spanOf('to', to, timeZone).end,
    accountId: isEmail ? undefined : account,
    accountEmail: isEmail ? account : undefined,
    action,
    outcome,
  };
}

function spanOf(name: string, text: string, timeZone: string): { start: Date; end: Date } {
  const date = parseDateTime(text);
  if (date === undefined) throw privacyError('bad_filter', { field: name, kind: 'date' });
  return date.span(timeZone);
}
