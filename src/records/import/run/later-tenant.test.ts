/** What an import reads for an organisation that came after the statistics, which know nothing of it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { neverAnalyze } from '../../../../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { rowsRead } from '../../../../test-support/database/rows-read.ts';
import { createImportTest, type ImportTest } from '../../../../test-support/records/import.ts';
import { visitEntries } from '../../../../test-support/records/visit-bundle.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';
import { createPool } from '../../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../../platform/db/migrate.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');
const PATIENTS = 150;

let t: ImportTest;
let owner: pg.Client;
before(async () => {
  t = await createImportTest();
  owner = new pg.Client({ connectionString: t.database.url });
  await owner.connect();
  await neverAnalyze(owner);
});
after(async () => {
  await owner.end();
  await t.database.drop();
});

/** Import the Bundles of an organisation; returns the rows of each table that were read for each Bundle. */
async function readBy(
  organisation: string,
  { scope, dryRun }: { scope: FacilityScope; dryRun: boolean },
): Promise<Map<string, number>> {
  const before = await rowsRead(owner);
  const url = t.database.url;
  const db = createPool({ url, max: 4, applicationName: 'another', role: SERVICE_ROLE }, () => undefined);
  const documents = Array.from({ length: PATIENTS }, (_, number) => ({
    resourceType: 'Bundle',
    type: 'collection',
    entry: visitEntries(organisation, number),
  }));
  const { rejected } = await t.run(documents, { scope, dryRun, deps: { db } });
  assert.deepEqual(rejected, []);
  await db.end();
  await waitForDisconnect(owner, 'another');
  const after = await rowsRead(owner);
  return new Map(
    Array.from(after, ([name, read]) => [name, (read - (before.get(name) ?? 0)) / PATIENTS] as const),
  );
}

for (const [name, when] of [
  ['first', 'before there are statistics'],
  ['later', 'with statistics of other organisations'],
] as const)
  test(
    `each Bundle reads its own records, however many the facility has: ${when} [IN-53]`,
    PLAIN,
    async () => {
      const { organisationId } = await t.createOrganisation();
      const scope = await t.createFacility(organisationId);
      // A dry run of what is stored copies it.
      for (const dryRun of [false, true]) {
        const read = await readBy(name, { scope, dryRun });
        // Some of the few organisations and facilities are read for each row that is written.
        for (const table of ['organisation', 'facility']) read.delete(table);
        const most = Math.max(...read.values());
        // Reading the whole facility once for each Bundle is half of all patients.
        assert.ok(most < PATIENTS / 2 - 5, `${most} rows of one table for each Bundle, dry run ${dryRun}`);
      }
      await owner.query('analyze');
    },
  );
