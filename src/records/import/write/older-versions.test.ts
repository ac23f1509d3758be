/** An older version of a record never overwrites a newer one, whatever came first (docs/adr/0108). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { bundle, encounter, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { EMPTY_REPORT, lines, sourceOf, useImportTest } from '../../../../test-support/records/import.ts';
import { waitUntil } from '../../../../test-support/wait-until.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { createWorkWatch } from '../../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../../tenancy/organisations/retention.ts';
import { importRecords } from '../import-records.ts';
import { importText } from '../import-report.ts';
import { forgetMet, POSITIONS_RETENTION } from './entry-positions.store.ts';

const someone = patient();

const t = await useImportTest();
await t.run([someone]);

const result = (value: number, meta?: object, id: string = randomUUID()): Resource => ({
  resourceType: 'Observation',
  id,
  ...(meta === undefined ? {} : { meta }),
  status: 'final',
  category: [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ],
  code: { text: 'Potassium' },
  subject: { reference: `Patient/${someone.id}` },
  valueQuantity: { value, unit: 'mmol/L' },
  component: [{ code: { text: 'of' }, valueQuantity: { value } }],
});
const version = (versionId: string, lastUpdated?: string) => ({
  versionId,
  ...(lastUpdated === undefined ? {} : { lastUpdated }),
});
const SYSTEMS = ['https://one.example/fhir', 'https://two.example/fhir'] as const;
const from = (source: string, ...of: [versionId: string, lastUpdated?: string]) => ({
  source,
  ...version(...of),
});
const hoursFromNow = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const updated = (lastUpdated: string) => ({ lastUpdated });

/** The value that is stored, of the Observation and of its component, and the version of the row. */
async function stored(id: unknown): Promise<unknown[]> {
  const [row] = await t.rows<{ value: string; part: string; version: string }>(
    `select o.value_number::text as value, c.value_number::text as part, o.version::text as version
     from observation o
     join observation_component c on c.organisation_id = o.organisation_id and c.observation_id = o.id
     where o.id = $1`,
    [id],
  );
  return [row?.value, row?.part, row?.version];
}

const EARLY = '2024-05-01T10:00:00.000Z';
const LATE = '2024-05-01T11:00:00.000+01:00';
const LATER = '2024-05-01T10:00:00.001Z';

describe('what comes after a newer version', () => {
  for (const [name, first, second, wins] of [
    ['a lower version', version('3'), version('2'), 'first'],
    ['a lower version of fewer digits', version('10'), version('9'), 'first'],
    ['a lower version with a later time', version('3', EARLY), version('2', LATER), 'first'],
    ['a higher version with an earlier time', version('2', LATER), version('3', EARLY), 'second'],
    ['an earlier time', updated(LATER), updated(EARLY), 'first'],
    ['the same instant in another zone', updated(EARLY), updated(LATE), 'second'],
    ['the same version at an earlier time', version('2', LATER), version('2', EARLY), 'first'],
    ['a version that is no number, at an earlier time', version('b', LATER), version('a', EARLY), 'first'],
    ['a version that is no number', version('b'), version('a'), 'second'],
    ['nothing to go by', undefined, undefined, 'second'],
    ['nothing to go by on the second', version('3', LATER), undefined, 'second'],
    [
      'a time far in the future, which is not believed',
      updated('2999-01-01T00:00:00Z'),
      updated(EARLY),
      'second',
    ],
    ['a time within a day of the clock', updated(hoursFromNow(23)), updated(EARLY), 'first'],
    ['a lower version of another system', from(SYSTEMS[0], '3'), from(SYSTEMS[1], '2'), 'second'],
    [
      'a lower version of the same system',
      from(`${SYSTEMS[0]}#1`, '3'),
      from(`${SYSTEMS[0]}#2`, '2'),
      'first',
    ],
    [
      'a lower version of a system whose name is no text',
      from(SYSTEMS[0], '3'),
      from('bad\ud800', '2'),
      'first',
    ],
    ['a lower version of a system beside none', from(SYSTEMS[0], '3'), version('2'), 'first'],
    [
      'a higher version of another system at an earlier time',
      from(SYSTEMS[0], '2', LATER),
      from(SYSTEMS[1], '3', EARLY),
      'first',
    ],
    ['a time that is none', updated('2999-99-99T00:00:00Z'), updated(EARLY), 'second'],
    [
      'an earlier time, after a leap second',
      updated('2016-12-31T23:59:60.5Z'),
      updated('2016-12-31T23:59:59Z'),
      'first',
    ],
  ] as const)
    test(`${name}: the ${wins} stays [IN-34]`, async () => {
      const one = result(41, first);
      const other = result(4.1, second, String(one.id));
      await t.run([one]);
      const report = await t.run([other]);
      const taken = wins === 'second';
      assert.deepEqual(report, {
        ...EMPTY_REPORT,
        files: 1,
        resources: taken ? { Observation: 1 } : {},
        older: taken ? [] : [{ file: '0.json', entry: 1, resourceType: 'Observation' }],
        olderCount: taken ? 0 : 1,
        notKept: report.notKept,
      });
      assert.deepEqual(await stored(one.id), taken ? ['4.1', '4.1', '2'] : ['41', '41', '1']);
    });

  test('what said nothing of its version does not make room for an older one [IN-34]', async () => {
    const one = result(1, version('3'));
    await t.run([one]);
    await t.run([result(2, undefined, String(one.id))]);
    assert.equal((await t.run([result(3, version('2'), String(one.id))])).olderCount, 1);
    assert.deepEqual(await stored(one.id), ['2', '2', '2']);
  });

  test('a number of another system leaves nothing of the one before [IN-34]', async () => {
    const one = result(1, from(SYSTEMS[0], '30'));
    const id = String(one.id);
    await t.run([one]);
    await t.run([result(2, from(SYSTEMS[1], '2'), id)]);
    assert.equal((await t.run([result(3, from(SYSTEMS[1], '1'), id)])).olderCount, 1);
    await t.run([result(4, from(SYSTEMS[1], '3'), id)]);
    assert.deepEqual(await stored(id), ['4', '4', '3']);
  });

  test('nor does what another system sent without a number leave the number of the one before to it [IN-34]', async () => {
    const id = randomUUID();
    const metas = [from(SYSTEMS[0], '3'), { source: SYSTEMS[1] }, from(SYSTEMS[1], '2')];
    for (const [index, meta] of metas.entries()) await t.run([result(index, meta, id)]);
    assert.deepEqual(await stored(id), ['2', '2', '3']);
  });

  test('the same content under a newer version is unchanged, and keeps an older one out [IN-34]', async () => {
    const one = result(1, version('1'));
    const id = String(one.id);
    await t.run([one]);
    const again = await t.run([result(1, version('3'), id)]);
    assert.deepEqual([again.unchanged, again.olderCount], [{ Observation: 1 }, 0]);
    assert.deepEqual(await stored(id), ['1', '1', '1']);
    assert.equal((await t.run([result(2, version('2'), id)])).olderCount, 1);
    assert.deepEqual(await stored(id), ['1', '1', '1']);
    const late = await t.run([result(1, version('2'), id)]);
    assert.deepEqual([late.unchanged, late.olderCount], [{ Observation: 1 }, 0], 'nor is it told as older');
  });

  test('a dry run says the same, and keeps nothing [IN-24, IN-34]', async () => {
    const one = result(1, version('2'));
    const id = String(one.id);
    await t.run([one]);
    const files = [result(2, version('1'), id), result(1, version('3'), id), result(4, version('2'), id)];
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(await stored(id), ['1', '1', '1']);
    assert.deepEqual(dry, await t.run(files));
    assert.deepEqual(
      [dry.resources, dry.unchanged, dry.older.map(({ file }) => file)],
      [{ Observation: 1 }, { Observation: 1 }, ['0.json', '2.json']],
    );
  });
});

test('records of every kind: patients, encounters, the directory, and in a Bundle [IN-34]', async () => {
  const ids = { patient: randomUUID(), visit: randomUUID(), place: randomUUID() };
  const of = (versionId: string, gender: string, status: string) => {
    const meta = { versionId };
    const who = patient({ id: ids.patient, meta, gender });
    return bundle([
      who,
      encounter(`urn:uuid:${ids.patient}`, { id: ids.visit, meta, status }),
      { resourceType: 'Location', id: ids.place, meta, name: status },
    ]);
  };
  await t.run([of('2', 'male', 'finished')]);
  const report = await t.run([of('1', 'female', 'planned')]);
  assert.deepEqual(report.older, [
    { file: '0.json', entry: 1, resourceType: 'Patient' },
    { file: '0.json', entry: 2, resourceType: 'Encounter' },
    { file: '0.json', entry: 3, resourceType: 'Location' },
  ]);
  const rows = await t.rows(
    `select p.gender, e.status, l.name
     from patient p
     join encounter e on e.organisation_id = p.organisation_id
     join location l on l.organisation_id = p.organisation_id
     where p.id = $1 and e.id = $2 and l.id = $3`,
    [ids.patient, ids.visit, ids.place],
  );
  assert.deepEqual(rows, [{ gender: 'male', status: 'finished', name: 'finished' }]);
});

test('a facility that brings an older version of a patient of another has the patient too [IN-34]', async () => {
  const there = await t.createFacility(t.scope.organisationId);
  const who = patient({ meta: { versionId: '2' } });
  await t.run([who], { scope: there });
  const report = await t.run([{ ...who, meta: { versionId: '1' }, gender: 'male' }]);
  assert.equal(report.olderCount, 1);
  const visit = await t.run([encounter(`Patient/${who.id}`)]);
  assert.deepEqual([visit.rejected, visit.resources], [[], { Encounter: 1 }]);
});

test('files in any order, by any number of workers, end in the newest versions [IN-34]', async () => {
  const ids = Array.from({ length: 60 }, () => randomUUID());
  const fileOf = (versionId: number) =>
    lines(ids.map((id) => result(versionId, version(String(versionId)), id)));
  for (const [workers, order] of [
    [1, [4, 1, 3, 2]],
    [4, [3, 8, 5, 6, 7]],
    [8, [9, 16, 10, 15, 11, 14, 12, 13]],
  ] as const) {
    await t.run(order.map(fileOf), { workers });
    const newest = String(Math.max(...order));
    for (const id of ids) assert.deepEqual((await stored(id)).slice(0, 2), [newest, newest]);
  }
});

describe('records that say nothing of their version: the order of entry decides', () => {
  for (const workers of [1, 4, 8])
    test(`by ${workers} workers, when they come first and again [IN-34]`, async () => {
      const ids = Array.from({ length: 60 }, () => randomUUID());
      // The first says what the last does, so that nothing changes where the last is written first.
      const values = [7, 1, 2, 3, 4, 5, 6, 7];
      const files = values.map((value) => lines(ids.map((id) => result(value, undefined, id))));
      for (const time of ['first', 'again']) {
        assert.equal((await t.run(files, { workers })).rejectedCount, 0);
        for (const id of ids) assert.deepEqual((await stored(id)).slice(0, 2), ['7', '7'], time);
      }
      assert.deepEqual(await t.rows('select from entry_position'), []);
    });

  test('one that waits for the order of a later file does not come back over a later one [IN-34]', async () => {
    for (const workers of [1, 4]) {
      const [id, orderId] = [randomUUID(), randomUUID()];
      const asked = { basedOn: [{ reference: `ServiceRequest/${orderId}` }] };
      const subject = { reference: `Patient/${someone.id}` };
      const files = [
        { ...result(1, undefined, id), ...asked },
        { ...result(2, undefined, id), ...asked },
        result(3, undefined, id),
        { resourceType: 'ServiceRequest', id: orderId, status: 'active', intent: 'order', subject },
      ];
      await t.run(files, { workers });
      assert.deepEqual((await stored(id)).slice(0, 2), ['3', '3']);
    }
  });

  test('a Bundle that waits for a patient of a later file does not come back over a later one [IN-34]', async () => {
    const [id, late] = [randomUUID(), patient()];
    const first = bundle([result(1, undefined, id), encounter(`Patient/${late.id}`)], 'collection');
    const report = await t.run([first, result(2, undefined, id), late]);
    assert.equal(report.rejectedCount, 0);
    assert.deepEqual((await stored(id)).slice(0, 2), ['2', '2']);
  });
});

describe('Patient, Practitioner, Organization and Location that say nothing of their version', () => {
  const TYPES = ['Patient', 'Practitioner', 'Organization', 'Location'] as const;
  // The first says what the last does, so that nothing changes where the last is written first.
  const values = [7, 1, 2, 3, 4, 5, 6, 7];
  const named = (resourceType: string, id: string, value: number): Resource =>
    ['Patient', 'Practitioner'].includes(resourceType)
      ? { resourceType, id, name: [{ family: `Name ${value}` }] }
      : { resourceType, id, name: `Name ${value}` };
  const TABLES: Readonly<Record<string, [table: string, column: string]>> = {
    Patient: ['patient_name', 'family'],
    Practitioner: ['practitioner', 'display'],
    Organization: ['provider_organisation', 'name'],
    Location: ['location', 'name'],
  };
  const names = (type: string, ids: readonly string[] = []) => {
    const [table, column] = TABLES[type] ?? [];
    const id = type === 'Patient' ? 'patient_id' : 'id';
    return t.rows(`select distinct ${column} as name from ${table} where ${id} = any($1)`, [ids]);
  };

  for (const workers of [1, 4, 8])
    for (const [layout, fileOf] of [
      ['lines', lines],
      ['Bundles that share them', (records: readonly Resource[]) => bundle(records)],
    ] as const)
      test(`in ${layout} the order of entry decides, by ${workers} workers, also when they come again [IN-34]`, async () => {
        const ids = Object.fromEntries(
          TYPES.map((type) => [type, Array.from({ length: 20 }, () => randomUUID())]),
        );
        const files = values.map((value) =>
          fileOf(TYPES.flatMap((type) => (ids[type] ?? []).map((id) => named(type, id, value)))),
        );
        for (const time of ['first', 'again']) {
          const report = await t.run(files, { workers });
          assert.deepEqual(report.rejected, []);
          assert.deepEqual(
            report.resources,
            Object.fromEntries(TYPES.map((type) => [type, 20 * values.length])),
          );
          for (const type of TYPES)
            assert.deepEqual(await names(type, ids[type]), [{ name: 'Name 7' }], `${type}, ${time}`);
        }
        assert.deepEqual(await t.rows('select from entry_position'), []);
      });
});

test('another person under the id of a patient is refused too when the later file was quicker [IN-21]', async () => {
  const id = randomUUID();
  const here = patient({ id });
  const other = patient({
    id,
    name: [{ family: 'Stone', given: ['Ibrahim'] }],
    gender: 'male',
    birthDate: '1951-02-03',
  });
  const theirs: Resource = { ...result(7), subject: { reference: `Patient/${id}` } };
  const isThere = async () => (await t.rows('select from patient where id = $1', [id])).length === 1;
  const sources = [
    sourceOf('other', bundle([other, theirs]), () => waitUntil(isThere)),
    sourceOf('here', bundle([here])),
  ];
  const { document } = await importRecords({ db: t.database.pool }, { scope: t.scope, sources, workers: 2 });
  assert.deepEqual(
    document.rejected.map(({ file, reason }) => [file, /may be another person/.test(reason)]),
    [['other', true]],
  );
  assert.deepEqual(await t.rows('select id from observation where id = $1', [theirs.id]), []);
});

test('people are told what was older, and where [IN-34]', async () => {
  const one = result(1, version('2'));
  await t.run([one]);
  const text = importText(await t.run([result(2, version('1'), String(one.id))]));
  assert.match(
    text,
    /\nolder {6}1, not taken: a newer version is there\n {2}0\.json, entry 1 \(Observation\)\n/,
  );
});

test('another person under the id of a patient is refused in an older version too, with what comes along [IN-21]', async () => {
  const here = patient({ meta: version('5') });
  assert.equal((await t.run([here])).rejectedCount, 0);
  const other = {
    ...here,
    meta: version('1'),
    name: [{ family: 'Stone', given: ['Ibrahim'] }],
    gender: 'male',
    birthDate: '1951-02-03',
  };
  const theirs: Resource = { ...result(7), subject: { reference: `Patient/${here.id}` } };
  const report = await t.run([bundle([other, theirs])]);
  assert.match(String(report.rejected[0]?.reason), /may be another person/);
  const rows = await t.rows('select id from observation where id = $1', [theirs.id]);
  assert.deepEqual(rows, []);
});

test(
  'an import that ends finds its own places by their key; those of a killed one go after a week [IN-34]',
  needsPlainPostgres('Citus shows plans otherwise'),
  async () => {
    await t.rows(
      `insert into entry_position (organisation_id, run_id, resource_type, id, position, met_at)
       select $1, $2, 'Observation', gen_random_uuid(), '{1}', now() - i * interval '1 hour'
       from generate_series(1, 20000) i`,
      [t.scope.organisationId, randomUUID()],
    );
    let plan = '';
    const explaining = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        plan = JSON.stringify(await t.rows(`explain ${text}`, values));
      },
    };
    await forgetMet(explaining as unknown as Queryable, t.scope, randomUUID());
    assert.match(plan, /Index Cond: [^"]*run_id/);
    assert.doesNotMatch(plan, /Seq Scan|Filter:/);
    const context = { db: t.database.pool, work: createWorkWatch().of('retention') };
    await runRetention(context, [POSITIONS_RETENTION], { dryRun: false });
    const [left] = await t.rows('select count(*)::integer as places from entry_position');
    assert.deepEqual(left, { places: 7 * 24 - 1 });
  },
);
