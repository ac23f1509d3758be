/** List the orders of one patient (docs/lab.md). Contract: FETCH-20. */
import { summaryCode } from '../clinical/fetch/collection.fhir.ts';
import {
  type CodedListDependencies,
  type ListRequest,
  listOfPatient,
} from '../clinical/fetch/list-of-patient.ts';
import { parseDateTime } from '../fhir/date-time.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import type { FetchedDiscipline } from './investigation.ts';
import { type ListedOrder, listOrderPage } from './list-orders.store.ts';

export function listOrders(
  deps: CodedListDependencies,
  { discipline, ...request }: ListRequest & { discipline: FetchedDiscipline },
  context: FacilityContext,
) {
  return listOfPatient(deps, request, context, {
    name: ['orders', discipline],
    action: discipline === 'laboratory' ? 'lab-order.list' : 'imaging-order.list',
    resourceType: 'ServiceRequest',
    load: (key) => listOrderPage(deps.db, context.scope, { discipline, ...key }),
    conceptsOf: ({ code }) => [code ?? undefined],
    show: (order, patientId, { translate }) => ({
      orderId: order.id,
      patientId,
      encounterId: order.encounterId,
      status: order.status,
      ...summaryCode(order.code === null ? undefined : translate(order.code)),
      ...ordered(order),
    }),
  });
}

/** A month or a year has no timestamp, as in the summary beside an Observation. */
function ordered({ sortText, written }: ListedOrder): {
  orderedAt: string | null;
  orderedOn?: string | undefined;
} {
  const precision = written === null ? undefined : parseDateTime(written)?.precision;
  const orderedOn = precision === undefined || precision === 'time' ? undefined : (written ?? undefined);
  const isPoint = sortText !== '-infinity' && precision !== 'month' && precision !== 'year';
  return { orderedAt: isPoint ? instantFromTimestamp(sortText) : null, orderedOn };
}
