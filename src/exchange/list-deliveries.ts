/** Deliveries of a facility, page by page. */
import type { Pool } from '../platform/db/database.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { listDeliveries } from './delivery.store.ts';
import type { Delivery, DeliveryFilter, DeliveryStatus } from './delivery.ts';
import { pageOf } from './page.ts';

export interface DeliveryQuery {
  filter: DeliveryFilter;
  status?: DeliveryStatus | undefined;
  limit: number;
  cursor?: string | undefined;
}

export function listDeliveryPage(
  { db, cursors }: { db: Pool; cursors: CursorCodec },
  { organisationId, facilityId }: FacilityScope,
  { filter, status, limit, cursor }: DeliveryQuery,
): Promise<{ items: Delivery[]; nextCursor: string | null }> {
  const { connectionId, patientId, since, until } = filter;
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
  return pageOf(cursors, { limit, cursor, binding }, (page) =>
    listDeliveries(db, { organisationId }, { filter: { ...filter, facilityId }, status, ...page }),
  );
}
