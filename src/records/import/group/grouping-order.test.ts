/** What is put under which order follows from the records alone: not from the files, nor from what came first. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lines, useImportTest } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';
import { checkTexts } from '../../../clinical/kept/check-texts.ts';
import { ORDER_TEXTS, renderChangedOrders } from '../../../investigations/kept/order-rendering.store.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

const t = await useImportTest();

interface Record {
  resourceType: string;
  id: string;
  [element: string]: unknown;
}

const refer = (type: string, ids: readonly string[]) =>
  ids.length === 0 ? undefined : ids.map((id) => ({ reference: `${type}/${id}` }));
const of = (resourceType: string, id: string, more: object): Record => ({
  resourceType,
  id,
  status: 'final',
  code: { text: `${resourceType} ${id}` },
  subject: { reference: 'Patient/p' },
  ...more,
});
const category = [
  {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
  },
];
const PATIENT: Record = { resourceType: 'Patient', id: 'p' };
const order = (id: string) => of('ServiceRequest', id, { status: 'active', intent: 'order' });

interface Links {
  basedOn?: readonly string[];
  members?: readonly string[];
  results?: readonly string[];
  studies?: readonly string[];
}
const result = (id: string, { basedOn = [], members = [] }: Links = {}, more: object = {}) =>
  of('Observation', id, {
    category,
    valueString: 'x',
    basedOn: refer('ServiceRequest', basedOn),
    hasMember: refer('Observation', members),
    ...more,
  });
const vitalSigns = (id: string, members: string[]) =>
  result(id, { members }, { category: [{ coding: [{ ...category[0]?.coding[0], code: 'vital-signs' }] }] });
const report = (id: string, { basedOn = [], results = [], studies = [] }: Links) =>
  of('DiagnosticReport', id, {
    issued: `2024-05-0${(id.charCodeAt(id.length - 1) % 3) + 1}T10:00:00Z`,
    basedOn: refer('ServiceRequest', basedOn),
    result: refer('Observation', results),
    imagingStudy: refer('ImagingStudy', studies),
  });
const study = (id: string, { basedOn = [] }: Links) =>
  of('ImagingStudy', id, {
    status: 'available',
    code: undefined,
    basedOn: refer('ServiceRequest', basedOn),
  });
const bundle = (records: readonly Record[]) => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: records.map((resource) => ({ resource })),
});

/** Which order each part is under, and every order. */
async function grouped({ organisationId }: FacilityScope): Promise<unknown> {
  return t.rows(
    `select part.kind, part.id, part.order_id, o.made_up, o.code, o.status, o.discipline, o.sort_at
      from (select * from investigation_order where organisation_id = $1) o
      full join (
        select 'report' as kind, id, order_id from investigation_report where organisation_id = $1
        union all select 'study', id, order_id from imaging_study where organisation_id = $1
        union all select 'result', id, order_id from observation where organisation_id = $1
      ) part on part.order_id = o.id
      order by part.kind, part.id, o.id`,
    [organisationId],
  );
}

/**
 * Each element is one import of files, one after the other. Orders are rendered after each: whatever an import changes of what
 * an order shows, the text of before must not count.
 */
async function stateAfter(imports: readonly (readonly (object | string)[])[], workers = 1): Promise<unknown> {
  const scope = await t.createOrganisation();
  for (const documents of imports) {
    const { rejected } = await t.run(documents, { scope, workers });
    assert.deepEqual(rejected, []);
    const { different } = await checkTexts(t.database.pool, ORDER_TEXTS, scope.organisationId);
    assert.deepEqual(different, []);
    while (await renderChangedOrders(t.database.pool, scope.organisationId));
  }
  return grouped(scope);
}

describe('the same records in one Bundle and one after the other', () => {
  for (const [what, records] of [
    [
      'a result of a report, and of a panel that comes later',
      [result('o'), report('r', { results: ['o'] }), result('q', { members: ['o'] })],
    ],
    [
      'a panel in a panel, whose results a report lists',
      [
        order('s'),
        result('r'),
        result('p2', { members: ['r'] }),
        result('p1', { basedOn: ['s'], members: ['p2'] }),
      ],
    ],
    [
      'two reports of one study, the second with an order',
      [
        order('s'),
        study('i', {}),
        report('r1', { studies: ['i'] }),
        report('r2', { studies: ['i'], basedOn: ['s'] }),
      ],
    ],
  ] as const)
    test(what, async () => {
      const together = await stateAfter([[bundle([PATIENT, ...records])]]);
      assert.deepEqual(await stateAfter([PATIENT, ...records].map((record) => [record])), together);
    });
});

describe('a change is followed by all that it concerns', () => {
  const stored = [
    PATIENT,
    order('s1'),
    order('s2'),
    result('r'),
    result('p2', { members: ['r'] }),
    result('p1', { basedOn: ['s1'], members: ['p2'] }),
    result('x'),
    result('y'),
    report('d', { results: ['x', 'y'] }),
    result('z', { basedOn: ['s1'] }),
    report('e', { basedOn: ['s2'], results: ['z'] }),
    report('c', { basedOn: ['s1'], results: ['z'] }),
    result('m'),
    vitalSigns('q1', ['m']),
    result('q2', { basedOn: ['s2'], members: ['m'] }),
  ];
  for (const [what, changed] of [
    ['the order of the panel above the panel', result('p1', { basedOn: ['s2'], members: ['p2'] })],
    ['a panel that lost its member', result('p1', { basedOn: ['s1'] })],
    ['a panel without an order that lost a member of another one', vitalSigns('q1', [])],
    ['the order of a result, which gives the report one', result('y', { basedOn: ['s2'] })],
    ['a report that lists a result no more', report('d', { results: ['x'] })],
    [
      'the first of two reports, which lists a result of its own order no more',
      report('c', { basedOn: ['s1'] }),
    ],
  ] as const)
    test(what, async () => {
      const state = stored.map((record) => (record.id === changed.id ? changed : record));
      assert.deepEqual(await stateAfter([[bundle(stored)], [changed]]), await stateAfter([[bundle(state)]]));
    });
});

const some = (prefix: string, count: number, maxLength: number) =>
  fc.uniqueArray(
    fc.nat(count - 1).map((index) => `${prefix}${index}`),
    { maxLength },
  );
const basedOn = some('s', 2, 1);
const linkSets = fc.record({
  // A panel has members of lower numbers: what is referred to can come first.
  results: fc.array(fc.record({ basedOn, members: some('o', 6, 3) }), { minLength: 6, maxLength: 6 }),
  studies: fc.array(fc.record({ basedOn }), { minLength: 2, maxLength: 2 }),
  reports: fc.array(fc.record({ basedOn, results: some('o', 6, 3), studies: some('i', 2, 2) }), {
    minLength: 3,
    maxLength: 3,
  }),
});
/** The same records whatever the links. */
const linked = ({ results, studies, reports }: { [Kind in 'results' | 'studies' | 'reports']: Links[] }) => [
  PATIENT,
  order('s0'),
  order('s1'),
  ...studies.map((links, index) => study(`i${index}`, links)),
  ...results.map((links, index) => {
    const members = links.members?.filter((id) => Number(id.slice(1)) < index) ?? [];
    return result(`o${index}`, { ...links, members });
  }),
  ...reports.map((links, index) => report(`r${index}`, links)),
];

test('records of all kinds, linked at random: in a Bundle, in files, as lines, by four at a time, one by one', async () => {
  const places = fc.array(fc.nat(), { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(linkSets, places, async (links, keys) => {
      const records = linked(links);
      const shuffled = records
        .map((record, index) => ({ record, place: keys[index] ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ record }) => record);
      const expected = await stateAfter([[bundle(records)]]);
      assert.deepEqual(await stateAfter([[bundle(shuffled)]]), expected, 'in a Bundle');
      assert.deepEqual(await stateAfter([shuffled]), expected, 'in files');
      assert.deepEqual(await stateAfter([[lines(shuffled)]]), expected, 'as lines');
      assert.deepEqual(await stateAfter([shuffled], 4), expected, 'by four at a time');
      assert.deepEqual(await stateAfter(ready(shuffled).map((record) => [record])), expected, 'one by one');
    }),
    { numRuns: sized(3, 12) },
  );
});

test('records of all kinds, linked at random, and some of them linked otherwise later', async () => {
  const later = fc.record({
    links: linkSets,
    chosen: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
  });
  await fc.assert(
    fc.asyncProperty(linkSets, later, async (first, { links, chosen }) => {
      const before = linked(first);
      const changed = linked(links).filter((_, index) => chosen[index]);
      const ids = new Set(changed.map(({ id }) => id));
      const expected = await stateAfter([[bundle([...before.filter(({ id }) => !ids.has(id)), ...changed])]]);
      assert.deepEqual(await stateAfter([[bundle(before)], [bundle(changed)]]), expected, 'in a Bundle');
      const lined = [[bundle(before)], ...changed.map((record) => [record])];
      assert.deepEqual(await stateAfter(lined), expected, 'one by one');
    }),
    { numRuns: sized(4, 40) },
  );
});

/** The records as they stand, but each after what it refers to. */
function ready(records: readonly Record[]): Record[] {
  const left = [...records];
  const done: Record[] = [];
  const names = new Set<string>();
  while (left.length > 0) {
    const index = left.findIndex((record) =>
      [...JSON.stringify(record).matchAll(/"reference":"([^"]+)"/g)].every(([, name = '']) =>
        names.has(name),
      ),
    );
    for (const record of left.splice(Math.max(index, 0), 1)) {
      done.push(record);
      names.add(`${record.resourceType}/${record.id}`);
    }
  }
  return done;
}

test('a long chain of panels in one Bundle, and one of them again', async () => {
  const length = sized(1_000, 20_000);
  const scope = await t.createOrganisation();
  const chain = Array.from({ length }, (_, index) =>
    result(`c${index}`, index === 0 ? {} : { members: [`c${index - 1}`] }),
  );
  const first = await t.run([bundle([PATIENT, ...chain])], { scope });
  assert.deepEqual([first.rejectedCount, first.resources.Observation], [0, length]);
  const again = await t.run([result('c9', { members: ['c8'] }, { status: 'amended' })], { scope });
  assert.deepEqual([again.rejectedCount, again.unchanged.Observation], [0, undefined]);
});
