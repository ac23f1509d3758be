/**
 * Moves the tables of the service to the nodes of a Citus cluster (docs/scaling.md). Each table moves in one statement,
 * and what was done is read from Citus itself, so a run that was interrupted goes on where it stopped.
 * Contract: OPS-27, CMD-23.
 */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import { type Client, oneRow, type Queryable } from '../../platform/db/database.ts';
import { missingMigrations } from '../../platform/db/migrate.ts';
import { appError } from '../errors.ts';
import { clusterProblems } from './check-cluster.ts';
import {
  countRows,
  distribute,
  listServiceSessions,
  listTables,
  placeAsReference,
  prepareSession,
  readExtensionVersion,
  removeLocalRows,
  type StoredTable,
} from './citus.store.ts';
import {
  type Comparison,
  comparePlacement,
  type PlacementDifference,
  type TableToPlace,
  wordsOf,
} from './compare-placement.ts';

/** What a run would do. Throws `tables_not_placeable`, which lists all that stands in its way. */
export async function planScaleOut(client: Client): Promise<Comparison> {
  const { problems, comparison, tables } = await examine(client);
  const all = [...problems, ...misplacedProblems(comparison), ...ownerProblems(comparison, tables)];
  if (all.length > 0) throw appError('tables_not_placeable', { problems: all });
  return comparison;
}

/** The rows of each table that would be placed; reads each of them once. */
export async function countPlanned(
  client: Client,
  { missing }: Comparison,
): Promise<(TableToPlace & { rows: number })[]> {
  const counted: (TableToPlace & { rows: number })[] = [];
  for (const one of missing) counted.push({ ...one, rows: await countRows(client, one.table) });
  return counted;
}

/** Throws while processes of the service are connected: their statements fail until the last table is placed. */
export async function refuseWhileServiceRuns(client: Client): Promise<void> {
  const sessions = await listServiceSessions(client);
  if (sessions.length > 0) throw appError('service_connected', { sessions });
}

/** Run one at a time, and not beside a migration. The lock ends with the session. */
export async function lockPlacement(client: Client, onWait: () => void): Promise<void> {
  const values = [ADVISORY_LOCKS.migrations];
  const text = 'select pg_try_advisory_lock($1) as locked';
  if ((await oneRow<{ locked: boolean }>(client, { text, values })).locked) return;
  onWait();
  await client.query('select pg_advisory_lock($1)', values);
}

/** Place the tables of the plan, then remove what is left of them on the coordinator. */
export async function runPlan(
  client: Queryable,
  { missing, leftovers }: Pick<Comparison, 'missing' | 'leftovers'>,
  onTable: (one: TableToPlace, position: number) => void = () => undefined,
): Promise<void> {
  await prepareSession(client);
  for (const [index, one] of missing.entries()) {
    onTable(one, index + 1);
    await placeTable(client, one);
  }
  // Only now: Citus refuses it while a table that is not placed yet refers to one of them.
  const emptied = new Set([...leftovers, ...missing.map(({ table }) => table)]);
  for (const { table, localBytes } of await listTables(client))
    if (emptied.has(table) && localBytes > 0) await removeLocalRows(client, table);
}

async function placeTable(db: Queryable, { table, placement }: TableToPlace): Promise<void> {
  try {
    await (placement === 'reference' ? placeAsReference : distribute)(db, table);
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw appError('table_not_placed', { table, code }, { cause: error });
  }
}

export interface PlacementCheck {
  /** What stands in the way of a run, or is wrong with the cluster. */
  problems: string[];
  differences: PlacementDifference[];
}

/** Compare the cluster with the list; changes nothing. */
export async function checkPlacement(client: Client): Promise<PlacementCheck> {
  const { problems, comparison, distributed } = await examine(client);
  // One PostgreSQL has every table where it belongs.
  if (!distributed) return { problems, differences: [] };
  const missing = comparison.missing.map(({ table, placement }) => ({
    table,
    expected: wordsOf(placement),
    actual: wordsOf('local'),
  }));
  const leftovers = comparison.leftovers.map((table) => ({
    table,
    expected: 'no rows on the coordinator',
    actual: 'rows are left on the coordinator',
  }));
  return { problems, differences: [...comparison.misplaced, ...missing, ...leftovers] };
}

async function examine(
  client: Client,
): Promise<{ problems: string[]; comparison: Comparison; tables: StoredTable[]; distributed: boolean }> {
  const missing = await missingMigrations(client);
  const distributed = (await readExtensionVersion(client)) !== undefined;
  const tables = await listTables(client);
  const comparison = await comparePlacement(client, tables);
  const problems = await clusterProblems(client);
  if (missing.length > 0) problems.push(appError('schema_too_old', { missing }).message);
  for (const table of comparison.unlisted) problems.push(unlistedProblem(table));
  return { problems, comparison, tables, distributed };
}

export function unlistedProblem(table: string): string {
  return `Table ${table} is not one of the service, so nobody knows where it belongs. Move it to another schema: alter table ${table} set schema NAME;`;
}

function misplacedProblems({ misplaced }: Comparison): string[] {
  return misplaced.map(
    ({ table, expected, actual }) =>
      `Table ${table} should be ${expected}, and is ${actual}. Bring it back first: select undistribute_table('${table}', cascade_via_foreign_keys => true);`,
  );
}

function ownerProblems({ missing }: Comparison, tables: readonly StoredTable[]): string[] {
  const foreign = new Set(tables.filter(({ owned }) => !owned).map(({ table }) => table));
  const refused = missing.filter(({ table }) => foreign.has(table)).map(({ table }) => table);
  if (refused.length === 0) return [];
  return [
    `The user of DATABASE_URL does not own ${refused.length} table(s), ${refused[0]} among them. Run this as the owner of the tables, who ran interchange migrate.`,
  ];
}
