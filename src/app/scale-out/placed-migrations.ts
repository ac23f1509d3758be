/** Migrations of a database that is distributed: a table that a migration makes is placed with it. Contract: OPS-28. */

import type { Queryable } from '../../platform/db/database.ts';
import { MigrationError, type MigrationHooks } from '../../platform/db/migrate.ts';
import { isDistributed, listTables, prepareSession } from './citus.store.ts';
import { type Comparison, comparePlacement } from './compare-placement.ts';
import { runPlan, unlistedProblem } from './scale-out.ts';

/** Hooks for one run of `migrate`. They do nothing where Citus has no table of the service. */
export function placedMigrations(): MigrationHooks {
  let distributed = false;
  return {
    async before(client) {
      distributed = await isDistributed(client);
      if (!distributed) return;
      const comparison = await compare(client);
      refuseUnlisted(comparison);
      refuseHalfPlaced(comparison);
      await prepareSession(client);
    },
    async afterEach(client) {
      if (!distributed) return;
      const comparison = await compare(client);
      refuseUnlisted(comparison);
      if (comparison.missing.length === 0) return;
      await runPlan(client, { ...comparison, leftovers: [] });
    },
  };
}

/** Throws where some tables were moved to the nodes and others were not: calls would fail. */
export async function requireWholePlacement(db: Queryable): Promise<void> {
  if (await isDistributed(db)) refuseHalfPlaced(await compare(db));
}

async function compare(db: Queryable): Promise<Comparison> {
  return comparePlacement(db, await listTables(db));
}

function refuseUnlisted({ unlisted }: Comparison): void {
  if (unlisted.length > 0) throw new MigrationError(unlisted.map(unlistedProblem).join('\n'));
}

function refuseHalfPlaced({ missing, placed }: Comparison): void {
  if (missing.length === 0) return;
  throw new MigrationError(
    `The tables are being moved to the nodes of a Citus cluster: ${placed} of ${placed + missing.length} are there. Finish that first, with the version of interchange that began it: npx interchange scale-out`,
  );
}
