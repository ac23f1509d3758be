/** Lists and counts deliveries: of a facility, page by page, or of all organisations. Contract: EXC-28, OPS-39. */
import type { Pool } from '../../platform/db/database.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import type { Operator } from '../../privacy/access-log/operator-log.ts';
import type { Reader, TracedListDependencies } from '../../privacy/authorise-access.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { listCovering } from '../connections/manage-connections.ts';
import { exchangeError } from '../errors.ts';
import { type QueueState, queueStates } from '../queue/queue-state.store.ts';
import { type DeliveryStatus, type DeliveryView, deliveryView } from './delivery.schema.ts';
import { type DeliveryFilter, listDeliveries } from './delivery.store.ts';
import {
  type EachAnswer,
  eachOrganisation,
  type OperatorFilter,
  organisations,
} from './each-organisation.ts';
import type { ReadDependencies } from './read-delivery.ts';
import { knownDeliveries } from './review.store.ts';
import { patientAskedFor, requireShown, traceShown } from './trace-shown.ts';

export interface DeliveryQuery extends PageRequest {
  filter: DeliveryFilter;
  status?: DeliveryStatus | undefined;
}

/** Each patient shown is traced. One patient's list is 403 when that patient refuses the purpose. */
export async function listDeliveryPage(
  { db, cursors, accessLog }: TracedListDependencies,
  reader: Reader,
  { filter, status, ...request }: DeliveryQuery,
): Promise<Page<DeliveryView>> {
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
  return mapPage(page, (item) => deliveryView(item, mayShow(item)));
}

/**
 * For the operator: the newest of all organisations, or of the one that is meant. Each patient shown is traced; a list
 * that names one who refuses the purpose shows the deliveries all the same, without the patient (docs/adr/0053).
 */
export async function listDeliveriesForOperator(
  { db, accessLog }: ReadDependencies,
  operator: Operator,
  { filter, status, limit }: { filter: OperatorFilter; status: DeliveryStatus | undefined; limit: number },
): Promise<EachAnswer<DeliveryView> & { more: boolean }> {
  const among = await organisations(db, filter);
  // One more tells whether there is more.
  const wanted = { filter, status, limit: limit + 1 };
  const listed = await eachOrganisation(among, (scope) => listDeliveries(db, scope, wanted));
  const { ids, connectionId } = filter;
  // Whether there are none that were named, or the rest of the filter leaves them out.
  if (ids !== undefined && connectionId === undefined && listed.found.length + listed.failed.length === 0)
    await requireAny(db, among, ids);
  const newest = Map.groupBy(newestFirst(listed.found).slice(0, limit), (item) => item.organisationId);
  const ofEach = [...newest].map(([organisationId, items]) => ({ organisationId, items }));
  const review = { ...operator, action: 'delivery.list' as const };
  const shown = await eachOrganisation(ofEach, async ({ items }) => {
    const mayShow = await traceShown(accessLog, review, items);
    return items.map((item) => deliveryView(item, mayShow(item)));
  });
  return {
    found: newestFirst(shown.found),
    failed: [...listed.failed, ...shown.failed],
    more: listed.found.length > limit,
  };
}

async function requireAny(
  db: Pool,
  among: readonly OrganisationScope[],
  ids: readonly string[],
): Promise<void> {
  for (const scope of among) if ((await knownDeliveries(db, scope, { ids })).size > 0) return;
  throw exchangeError('unknown_delivery');
}

function newestFirst<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** How much waits at a connection, and which one that is. */
export interface CountedConnection extends QueueState {
  connectionName: string;
  connectionEnabled: boolean;
}

/** How much waits at each connection of those that are meant, for the operator. */
export async function countDeliveries(
  db: Pool,
  filter: Pick<OperatorFilter, 'organisationId' | 'connectionId'>,
): Promise<EachAnswer<CountedConnection>> {
  const only = filter.connectionId?.toLowerCase();
  return eachOrganisation(await organisations(db, filter), async (scope) => {
    const states = await queueStates(db, scope);
    // Read after the states, so that none of these is missing.
    const connections = new Map((await listCovering(db, scope)).map((one) => [one.id, one]));
    return states.flatMap((state) => {
      const connection = connections.get(state.connectionId);
      if (connection === undefined || (only !== undefined && only !== connection.id)) return [];
      return [{ ...state, connectionName: connection.name, connectionEnabled: connection.enabled }];
    });
  });
}
