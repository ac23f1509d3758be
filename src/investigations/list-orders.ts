/**
 * List the orders of one patient, so that a partner can discover their ids (docs/lab.md).
 * Contract: FETCH-20, FETCH-21.
 */

import { codingsOf, emitContext } from '../clinical/content/coded-content.ts';
import { summaryCode } from '../clinical/fetch/collection.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import { parseDateTime } from '../fhir/date-time.ts';
import { patientIdIn } from '../fhir/reference.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../platform/http/paging.ts';
import { isUuid } from '../platform/uuid.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { notFound } from '../tenancy/errors.ts';
import type { Translator } from '../terminology/lookup/translate.ts';
import { type ListedOrder, listOrderPage, type OrderPosition } from './list-orders.store.ts';

export interface ListOrdersDependencies {
  db: Queryable;
  accessLog: AccessLog;
  cursors: CursorCodec;
  translator: Translator;
}

export interface ListOrdersRequest extends PageRequest {
  discipline: Exclude<Discipline, 'other'>;
  /** Bare, or as Patient/<id>. */
  patient: string;
}

export interface OrderItem {
  orderId: string;
  patientId: string;
  encounterId: string | null;
  status: string;
  code: string;
  /** Of `code`; absent where the order names none. */
  codeSystem?: string | undefined;
  /** ISO 8601 UTC; null when the source gave no time, or only a month or a year. */
  orderedAt: string | null;
  /** The date as the source wrote it, if it gave no time of day. */
  orderedOn?: string | undefined;
}

/** 400 for a cursor of another list; 404 for a patient outside the scope; 403 when the purpose is refused. */
export async function listOrders(
  { db, accessLog, cursors, translator }: ListOrdersDependencies,
  { discipline, patient, ...request }: ListOrdersRequest,
  context: FacilityContext,
): Promise<Page<OrderItem>> {
  const { scope } = context;
  const patientId = patientIdIn(patient);
  const binding = ['orders', discipline, scope.organisationId, scope.facilityId, patientId];
  const page = openPage<OrderPosition>(cursors, request, binding);
  if (!isUuid(patientId)) throw notFound('The patient');
  const found = await listOrderPage(db, scope, { discipline, patientId, ...page.slice });
  if (found === undefined) throw notFound('The patient');
  const { items, nextCursor } = page.close(found.items, ({ sortText, id }) => [sortText, id]);
  const [translations] = await Promise.all([
    translator.translate(scope, codingsOf(items.map(({ code }) => code))),
    authoriseAccess(accessLog, context, {
      patientId,
      action: discipline === 'laboratory' ? 'lab-order.list' : 'imaging-order.list',
      resourceType: 'ServiceRequest',
      resourceId: null,
      refusedPurposes: found.refusedPurposes,
    }),
  ]);
  const { translate } = emitContext(scope.organisationId, translations);
  return mapPage({ items, nextCursor }, (order) => ({
    orderId: order.id,
    patientId,
    encounterId: order.encounterId,
    status: order.status,
    ...summaryCode(order.code === undefined ? undefined : translate(order.code)),
    ...ordered(order),
  }));
}

/** A month or a year has no timestamp, as in the summary beside an Observation. */
function ordered({ sortText, written }: ListedOrder): Pick<OrderItem, 'orderedAt' | 'orderedOn'> {
  const precision = written === undefined ? undefined : parseDateTime(written)?.precision;
  const orderedOn = precision === undefined || precision === 'time' ? undefined : written;
  const isPoint = sortText !== '-infinity' && precision !== 'month' && precision !== 'year';
  return { orderedAt: isPoint ? instantFromTimestamp(sortText) : null, orderedOn };
}
