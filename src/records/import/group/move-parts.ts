/** Puts parts under the orders that were decided for them. */
import { moveParts, type PartTable } from '../../../investigations/place-parts.store.ts';
import { noteReplaced } from '../../../investigations/replaced-orders.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { madeUpId } from './assign-orders.ts';
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
}

const TYPES = {
  investigation_report: 'DiagnosticReport',
  imaging_study: 'ImagingStudy',
  observation: 'Observation',
} as const satisfies Record<PartTable, string>;

/** Returns the ids of what was moved. */
export async function move(
  client: Client,
  scope: FacilityScope,
  { table, rows, changed, assigned, affected }: Moving,
): Promise<string[]> {
  const moves: [string, string | null][] = [];
  for (const { id, orderId } of rows) {
    const next = assigned.get(id) ?? null;
    if (next !== orderId) moves.push([id, next]);
    if (next === orderId && !changed.has(id)) continue;
    for (const order of [orderId, next]) if (order !== null) affected.add(order);
  }
  for (const some of batchesOf(moves)) await moveParts(client, scope, table, new Map(some));
  const left = rows.flatMap(({ id, orderId }): [string, string][] => {
    const next = assigned.get(id) ?? null;
    const leaves = next !== null && next !== orderId && orderId === madeUpId(TYPES[table], id);
    return leaves ? [[orderId, id]] : [];
  });
  for (const some of batchesOf(left)) await noteReplaced(client, scope, table, new Map(some));
  return moves.map(([id]) => id);
}
