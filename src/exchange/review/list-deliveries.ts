/** Deliveries of a facility, page by page. Contract: EXC-28. */
import { openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { Reader, TracedListDependencies } from '../../privacy/authorise-access.ts';
import type { Delivery, DeliveryStatus } from './delivery.schema.ts';
import { type DeliveryFilter, listDeliveries } from './delivery.store.ts';
import { type AboutPatient, patientAskedFor, requireShown, traceShown } from './trace-shown.ts';

export interface DeliveryQuery extends PageRequest {
  filter: DeliveryFilter;
  status?: DeliveryStatus | undefined;
}

/**
 * Each patient shown is traced. `mayShow` tells of which deliveries; one patient's list is 403 when that patient
 * refuses the purpose.
 */
export async function listDeliveryPage(
  { db, cursors, accessLog }: TracedListDependencies,
  reader: Reader,
  { filter, status, ...request }: DeliveryQuery,
): Promise<Page<Delivery> & { mayShow: (item: AboutPatient) => boolean }> {
  const { organisationId, facilityId } = reader.scope;
  const { connectionId, patientId, since, until } = filter;
  // A filter that is missing here would let a cursor go on under another value of it.
  const binding = [
    'deliveries',
    organisationId,
    facilityId,
    connectionId,
    patientId,
    status,
    since?.toISOString(),
    until?.toISOString(),
  ];
  const { slice, close } = openPage<readonly [id: string]>(cursors, request, binding);
  const ofFacility = { filter: { ...filter, facilityId }, status, ...slice };
  const page = close(await listDeliveries(db, { organisationId }, ofFacility), ({ id }) => [id]);
  const review = { ...reader, action: 'delivery.list' as const };
  const asked = patientId === undefined ? [] : await patientAskedFor(db, reader.scope, patientId);
  const mayShow = await traceShown(accessLog, review, [...page.items, ...asked]);
  if (patientId !== undefined) requireShown([...page.items, ...asked].every(mayShow));
  return { ...page, mayShow };
}
