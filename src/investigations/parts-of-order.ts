/** SQL of what belongs to an order, whatever the statistics know of the organisation. */
import { rowsByIndex } from '../platform/db/by-key.ts';
import type { PartTable } from './place-parts.store.ts';

/** The rows of a table that are of the order aliased `o`, in the organisation `$1`. */
export function partsOfOrder(table: PartTable, alias: string, columns?: string): string {
  const index = { first: { facility_id: 'o.facility_id' }, column: 'order_id', value: 'o.id' };
  return rowsByIndex(table, alias, index, columns);
}

/** What a report aliased `r` of the order aliased `o` lists. */
export const RESULTS_OF_REPORT = rowsByIndex(
  'investigation_report_result',
  'e',
  { first: { facility_id: 'o.facility_id' }, column: 'report_id', value: 'r.id' },
  'e.observation_id, e.position',
);
