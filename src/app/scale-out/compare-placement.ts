/** Compares where tables lie with where the list has them. */

import type { Queryable } from '../../platform/db/database.ts';
import { type Placed, readPlaced, type StoredTable } from './citus.store.ts';
import {
  CO_LOCATED_WITH,
  DISTRIBUTION_COLUMN,
  LISTED_TABLES,
  type Placement,
  placementOf,
} from './placement.ts';

export interface PlacementDifference {
  table: string;
  expected: string;
  actual: string;
}

export interface TableToPlace {
  table: string;
  placement: Exclude<Placement, 'local'>;
  /** With indexes, on the coordinator. */
  sizeBytes: number;
}

export interface Comparison {
  /** Tables that are still to be placed, in the order in which that can be done. */
  missing: TableToPlace[];
  /** Tables that lie elsewhere than the list says. */
  misplaced: PlacementDifference[];
  /** Tables in no list. */
  unlisted: string[];
  /** Placed tables of which rows are left on the coordinator. */
  leftovers: string[];
  /** How many tables lie on the nodes already. */
  placed: number;
}

export async function comparePlacement(db: Queryable, tables: readonly StoredTable[]): Promise<Comparison> {
  const placed = await readPlaced(db);
  const stored = new Map(tables.map((one) => [one.table, one]));
  const here = LISTED_TABLES.filter((table) => stored.has(table));
  const coLocation = placed.get(CO_LOCATED_WITH)?.coLocation;
  return {
    missing: here.flatMap((table) => {
      const placement = placementOf(table);
      if (placement === undefined || placement === 'local' || isPlaced(placed.get(table))) return [];
      return [{ table, placement, sizeBytes: stored.get(table)?.sizeBytes ?? 0 }];
    }),
    misplaced: here.flatMap((table) => misplaced(table, placed.get(table), coLocation)),
    unlisted: tables
      .map(({ table }) => table)
      .filter((table) => placementOf(table) === undefined && !isShard(table)),
    leftovers: here.filter(
      (table) => isPlaced(placed.get(table)) && (stored.get(table)?.localBytes ?? 0) > 0,
    ),
    placed: here.filter((table) => isPlaced(placed.get(table))).length,
  };
}

function isPlaced(placed: Placed | undefined): boolean {
  return placed !== undefined && placed.kind !== 'managed';
}

function misplaced(
  table: string,
  placed: Placed | undefined,
  coLocation: number | undefined,
): PlacementDifference[] {
  if (placed === undefined || placed.kind === 'managed') return [];
  const expected = placementOf(table) ?? 'local';
  const wrongColumn = expected === 'distributed' && placed.column !== DISTRIBUTION_COLUMN;
  const apart = expected === 'distributed' && placed.coLocation !== coLocation;
  if (placed.kind === expected && !wrongColumn && !apart) return [];
  return [{ table, expected: wordsOf(expected), actual: placedWords(placed, apart) }];
}

export function wordsOf(placement: Placement): string {
  if (placement === 'reference') return 'a reference table';
  if (placement === 'local') return 'on the coordinator';
  return `distributed by ${DISTRIBUTION_COLUMN}`;
}

function placedWords({ kind, column }: Placed, apart: boolean): string {
  if (kind === 'reference') return 'a reference table';
  return `distributed by ${column}${apart ? `, but not co-located with ${CO_LOCATED_WITH}` : ''}`;
}

/** Citus shows the parts of tables that lie on this node, when citus.show_shards_for_app_name_prefixes says so. */
function isShard(table: string): boolean {
  const of = /^(.+)_\d+$/.exec(table)?.[1];
  return of !== undefined && placementOf(of) !== undefined;
}
