/** What is read when an order turns out to be another patient's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neverAnalyze } from '../../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../../test-support/database/plain-postgres.ts';
import { rowsRead, tellRead } from '../../test-support/database/rows-read.ts';
import { useImportTest } from '../../test-support/records/import.ts';
import { visitEntries } from '../../test-support/records/visit-bundle.ts';
import { createPool } from '../platform/db/database.ts';
import { SERVICE_ROLE } from '../platform/db/migrate.ts';
import { partsOfReassigned } from './result-grouping.store.ts';

const t = await useImportTest();
const VISITS = 100;
const CALLS = 10;

test('an order of another patient is looked up by its parts, however much the facility has [IN-53]', {
  ...needsPlainPostgres('looks at what a plan reads'),
}, async () => {
  const owner = await t.database.connectOwner();
  await neverAnalyze(owner);
  const { rows: named } = await owner.query('select current_database() as name');
  await owner.query(`alter database ${named[0].name} set enable_seqscan = off`);
  const visits = Array.from({ length: VISITS }, (_, index) => ({
    resourceType: 'Bundle',
    type: 'collection',
    entry: visitEntries('visit', index),
  }));
  assert.deepEqual((await t.run(visits)).rejected, []);
  const options = { url: t.database.url, max: 1, applicationName: 'reader', role: SERVICE_ROLE };
  // What ends its idle connection, such as the removal of the database afterwards, is no matter.
  const db = createPool(options, () => undefined);
  const { rows: orders } = await db.query<{ id: string }>({
    text: 'select id from investigation_order where organisation_id = $1 order by id limit $2',
    values: [t.scope.organisationId, CALLS],
  });
  await tellRead(db);
  const before = await rowsRead(owner);
  for (const { id } of orders) await partsOfReassigned(db, t.scope, new Set([id]), 1_000);
  await tellRead(db);
  const after = await rowsRead(owner);
  const read = (table: string) => ((after.get(table) ?? 0) - (before.get(table) ?? 0)) / CALLS;
  await db.end();
  await owner.end();
  assert.ok(read('observation') < VISITS, `${read('observation')} rows of observation for each order`);
});
