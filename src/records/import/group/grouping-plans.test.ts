/** What an import reads from a database that was filled a moment ago, and has no statistics yet. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { createImportTest, type ImportTest, lines } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');

let t: ImportTest;
beforeEach(async () => {
  t = await createImportTest();
});
afterEach(() => t.database.drop());

/** More than go to the database at once. */
const COUNT = sized(1_100, 1_500);
const numbers = Array.from({ length: COUNT }, (_, index) => index);
const subject = { reference: 'Patient/p' };
const PATIENT = { resourceType: 'Patient', id: 'p' };
const category = [
  {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
  },
];
const laboratory = [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }];
const minute = (index: number) => new Date(Date.UTC(2024, 0, 1, 0, index)).toISOString();
const part = (resourceType: string, id: string, more: object) => ({
  resourceType,
  id,
  status: 'final',
  code: { text: 'Test' },
  subject,
  ...more,
});
const results = numbers.map((index) =>
  part('Observation', `o${index}`, { category, valueString: 'x', effectiveDateTime: '2024-05-01' }),
);
const signs = numbers.map((index) =>
  part('Observation', `v${index}`, {
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
    effectiveDateTime: minute(index),
  }),
);
const imaging = numbers.flatMap((index) => [
  part('ImagingStudy', `i${index}`, { status: 'available', code: undefined }),
  part('DiagnosticReport', `r${index}`, { imagingStudy: [{ reference: `ImagingStudy/i${index}` }] }),
]);
// Of one time each: a result that is taken before its report shares its order with no other result meanwhile.
const reported = numbers.flatMap((index) => [
  part('Observation', `o${index}`, { category, valueString: 'x', effectiveDateTime: minute(index) }),
  part('DiagnosticReport', `r${index}`, {
    category: laboratory,
    result: [{ reference: `Observation/o${index}` }],
  }),
]);

/** Rows that were read by index or by scanning, for each row that there is. */
async function rowsRead(): Promise<number> {
  await t.database.pool.end();
  const owner = await t.database.connectOwner();
  await waitForDisconnect(owner, 'test');
  const { rows } = await owner.query<{ rows: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float / sum(n_live_tup) as rows
      from pg_stat_user_tables
      where relname in ('observation', 'investigation_order', 'investigation_report', 'investigation_report_result',
        'imaging_study', 'vital_set')`,
  );
  await owner.end();
  return rows[0]?.rows ?? Number.NaN;
}

for (const [what, resources] of [
  ['results without orders', results],
  ['vital signs', signs],
  ['studies and reports', imaging],
  ['reports and their results', reported],
] as const) {
  test(`lines of ${what}, more than are taken at once`, PLAIN, async () => {
    const { rejected } = await t.run([lines([PATIENT, ...resources])]);
    assert.deepEqual(rejected, []);
    const read = await rowsRead();
    assert.ok(read < 60, `${read} rows read for each`);
  });

  test(`one Bundle of ${what}`, PLAIN, async () => {
    const entry = [PATIENT, ...resources].map((resource) => ({ resource }));
    const { rejected } = await t.run([{ resourceType: 'Bundle', type: 'collection', entry }]);
    assert.deepEqual(rejected, []);
    const read = await rowsRead();
    assert.ok(read < 60, `${read} rows read for each`);
  });
}
