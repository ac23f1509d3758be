/** Puts parts under the orders that were decided for them. */
import { moveParts, type PartTable } from '../../../investigations/place-parts.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { batchesOf } from './batches.ts';

export interface Moving {
  table: PartTable;
  rows: readonly { id: string; orderId: string | null }[];
  /** Parts whose content changed. */
  changed: ReadonlySet<string>;
  /** Their orders, by part. */
  assigned: ReadonlyMap<string, string | null>;
  /** Orders that lost a part, got one, or have one that changed join this. */
  affected: Set<string>;
  /** Of each order that lost parts to other orders, the first of them joins this. */
  left: LeftOrders;
}

export type LeftOrders = Map<string, { table: PartTable; partId: string }>;

/** Returns the ids of what was moved. */
export async function move(
  client: Client,
  scope: FacilityScope,
  { table, rows, changed, assigned, affected, left }: Moving,
): Promise<string[]> {
  const moves: [string, string | null][] = [];
  for (const { id, orderId } of rows) {
    const next = assigned.get(id) ?? null;
    if (next !== orderId) moves.push([id, next]);
    if (next !== orderId && next !== null && orderId !== null && !left.has(orderId))
      left.set(orderId, { table, partId: id });
    if (next === orderId && !changed.has(id)) continue;
    for (const order of [orderId, next]) if (order !== null) affected.add(order);
  }
  for (const some of batchesOf(moves)) await moveParts(client, scope, table, new Map(some));
  return moves.map(([id]) => id);
}
