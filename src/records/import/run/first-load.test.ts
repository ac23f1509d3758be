/**
 * What a first load costs where the planner knows nothing of the tables yet: the blocks that a record needs must not
 * grow with the number of records.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { neverAnalyze } from '../../../../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { createImportTest, lines } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');

const PATIENTS = 50;
/** Results of a small Bundle. */
const SIZE = 100;

const patients = Array.from({ length: PATIENTS }, (_, index) => ({
  resourceType: 'Patient',
  id: `p${index}`,
}));
const coding = (system: string, code: string) => [
  { coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }] },
];
const part = (resourceType: string, index: number, more: object) => ({
  resourceType,
  id: `${resourceType}-${index}`,
  identifier: [{ system: 'https://clinic.example/numbers', value: `${resourceType} ${index}` }],
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '2951-2' }] },
  subject: { reference: `Patient/p${index % PATIENTS}` },
  ...more,
});
const time = (index: number) => new Date(Date.UTC(2024, 0, 1, 0, index)).toISOString();
const result = (index: number, more: object = {}) =>
  part('Observation', index, {
    category: coding('observation-category', 'laboratory'),
    effectiveDateTime: time(index),
    valueQuantity: { value: index, unit: 'mmol/L' },
    ...more,
  });
const refer = (type: string, index: number) => ({ reference: `${type}/${type}-${index}` });

/** The records of `count` results. */
type Records = (count: number) => object[];
const each =
  (of: (index: number) => object[]): Records =>
  (count) =>
    Array.from({ length: count }, (_, index) => of(index)).flat();

const alone = each((index) => [result(index)]);
const reported = each((index) => [
  result(index),
  part('DiagnosticReport', index, {
    category: coding('v2-0074', 'LAB'),
    issued: time(index),
    result: [refer('Observation', index)],
  }),
]);
const ordered = each((index) => [
  part('ServiceRequest', index, { status: 'active', intent: 'order' }),
  result(index, { basedOn: [refer('ServiceRequest', index)] }),
]);
const signs = each((index) => [
  part('Observation', index, {
    code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
    effectiveDateTime: time(index),
    component: [
      {
        code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
        valueQuantity: { value: 120, unit: 'mmHg' },
      },
    ],
  }),
]);

const bundle = (resources: readonly object[]) => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: resources.map((resource) => ({ resource })),
});
type Documents = readonly (object | string)[];
const inOneBundle = (resources: readonly object[]): Documents => [bundle([...patients, ...resources])];
const inBundles = (resources: readonly object[]): Documents => [
  bundle(patients),
  ...Array.from({ length: Math.ceil(resources.length / SIZE) }, (_, index) =>
    bundle(resources.slice(index * SIZE, (index + 1) * SIZE)),
  ),
];
/** The patients are there already: what comes with a new patient costs less. */
const asLines = (resources: readonly object[]): Documents => [lines(patients), lines(resources)];

/** Blocks of tables and indexes that were read to import the documents one after the other, for each result. */
async function blocksRead(imports: readonly Documents[], count: number): Promise<number> {
  const t = await createImportTest();
  const owner = new pg.Client({ connectionString: t.database.url, application_name: 'owner' });
  await owner.connect();
  try {
    await neverAnalyze(owner);
    const before = await blocks(owner);
    for (const documents of imports) assert.deepEqual((await t.run(documents)).rejected, []);
    await t.database.pool.end();
    await waitForDisconnect(owner, 'test');
    // The list of migrations is long enough to be analyzed as soon as there is a database; no import reads it.
    const { rows } = await owner.query<{ name: string }>(
      `select distinct tablename as name
       from pg_stats
       where schemaname = 'public'
         and tablename <> 'schema_migration'`,
    );
    assert.deepEqual(rows, [], 'tables with statistics');
    return ((await blocks(owner)) - before) / count;
  } finally {
    await owner.end();
    await t.database.drop();
  }
}

async function blocks(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ blocks: number }>(
    `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::float as blocks
      from pg_statio_user_tables`,
  );
  return rows[0]?.blocks ?? Number.NaN;
}

/** An index grows a level now and then: a quarter more blocks for a look-up. */
async function requireLinear(few: number, many: number, importsOf: (count: number) => readonly Documents[]) {
  const each = await blocksRead(importsOf(few), few);
  const eachOfMany = await blocksRead(importsOf(many), many);
  const text = `${each.toFixed(1)} blocks for each of ${few}, ${eachOfMany.toFixed(1)} for each of ${many}`;
  assert.ok(eachOfMany < each * 1.4, text);
}

test('a large Bundle of results of reports costs as much for each as a quarter of it', PLAIN, () =>
  requireLinear(sized(400, 5_000), sized(1_600, 20_000), (count) => [inOneBundle(reported(count))]),
);

const FEW = sized(200, 1_000);
const MANY = 5 * FEW;

for (const [name, records, documentsOf] of [
  ['results without orders, as lines', alone, asLines],
  ['results of reports, in small Bundles', reported, inBundles],
  ['results of orders, in small Bundles', ordered, inBundles],
  ['vital signs, in small Bundles', signs, inBundles],
] as const)
  test(`many cost as much each as a fifth of them: ${name}`, PLAIN, () =>
    requireLinear(FEW, MANY, (count) => [documentsOf(records(count))]),
  );

test('many results that come again with a change cost as much each as a fifth of them', PLAIN, () => {
  const again = (count: number) => reported(count).map((record) => ({ ...record, status: 'amended' }));
  return requireLinear(FEW, MANY, (count) => [inBundles(reported(count)), inBundles(again(count))]);
});

/** Each in a Bundle of its own, with a performer that comes in each of the later ones, or never. */
const performed = (count: number, comes: boolean): Documents =>
  alone(count).map((record, index) =>
    bundle([
      ...(index === 0 ? patients : []),
      { ...record, performer: [{ reference: 'Practitioner/doctor' }] },
      ...(comes && index >= count / 2 ? [{ resourceType: 'Practitioner', id: 'doctor' }] : []),
    ]),
  );

for (const [name, comes] of [
  ['never comes', false],
  ['each later file brings', true],
] as const)
  test(
    `many one-Bundle files cost as much each as a quarter of them: results by a performer that ${name}`,
    PLAIN,
    () => {
      // Something of an earlier import waits too.
      const earlier = [result(1_000_000, { basedOn: [refer('ServiceRequest', 1)] }), ...patients];
      const few = sized(25, 150);
      return requireLinear(few, 4 * few, (count) => [[bundle(earlier)], performed(count, comes)]);
    },
  );
