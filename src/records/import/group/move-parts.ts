/** Puts parts under the orders that were decided for them. */
import { moveParts, type PartTable } from '../../../investigations/place-parts.store.ts';
import type { LeavingPart } from '../../../investigations/replaced-orders.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { PatientOfOrder } from './assign-orders.ts';
import { batchesOf } from './batches.ts';

export interface Moving {
  table: PartTable;
  rows: readonly { id: string; orderId: string | null; patientId: string }[];
  /** Parts whose content changed. */
  changed: ReadonlySet<string>;
  /** Their orders, by part. */
  assigned: ReadonlyMap<string, string | null>;
  /** The patient of each order that the parts are under. */
  patientOf: PatientOfOrder;
  /** Orders that lost a part, got one, or have one that changed join this. */
  affected: Set<string>;
  /** Of each order that lost parts of its patient to other orders, the first of them joins this. */
  left: LeftOrders;
}

export type LeftOrders = Map<string, LeavingPart>;

/** Returns the ids of what was moved. */
export async function move(
  client: Client,
  scope: FacilityScope,
  { table, rows, changed, assigned, patientOf, affected, left }: Moving,
): Promise<string[]> {
  const moved = new Map<string, string | null>();
  for (const { id, orderId, patientId } of rows) {
    const next = assigned.get(id) ?? null;
    const moves = next !== orderId;
    if (moves) moved.set(id, next);
    if (!moves && !changed.has(id)) continue;
    for (const order of [orderId, next]) if (order !== null) affected.add(order);
    if (!moves || next === null || orderId === null || left.has(orderId)) continue;
    if (patientOf(orderId) === patientId) left.set(orderId, { table, partId: id, patientId });
  }
  for (const some of batchesOf(moved)) await moveParts(client, scope, table, new Map(some));
  return [...moved.keys()];
}
