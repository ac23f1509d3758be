import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MapEntry } from '../maps/map-entry.ts';
import { conceptMapText, type MapGroup, readConceptMapRows } from './concept-map.fhir.ts';

const LOINC = 'http://loinc.org';
const rowsOf = (resource: unknown, ignored = new Map<string, number>()) => [
  ...readConceptMapRows(resource, { ignored }),
];

describe('reading a ConceptMap', () => {
  test('gives one row for each target, with its path', () => {
    const resource = {
      resourceType: 'ConceptMap',
      group: [
        {
          source: 'urn:lab',
          target: LOINC,
          element: [
            {
              code: 'HGB',
              display: 'Hb',
              target: [
                { code: '718-7', display: 'Hemoglobin', equivalence: 'narrower', comment: 'blood only' },
              ],
            },
          ],
        },
      ],
    };
    assert.deepEqual(rowsOf(resource), [
      {
        path: 'ConceptMap.group[0].element[0].target[0]',
        given: {
          localSystem: 'urn:lab',
          localCode: 'HGB',
          localDisplay: 'Hb',
          targetSystem: LOINC,
          targetCode: '718-7',
          targetDisplay: 'Hemoglobin',
          equivalence: 'narrower',
          comment: 'blood only',
        },
      },
    ]);
  });

  test('an element without a target has no counterpart', () => {
    const resource = { resourceType: 'ConceptMap', group: [{ target: LOINC, element: [{ code: 'X' }] }] };
    const [row] = rowsOf(resource);
    assert.equal(row?.given.equivalence, 'unmatched');
    assert.equal(row?.given.targetSystem, LOINC);
  });

  test('systems that the file lacks are those given', () => {
    const resource = {
      resourceType: 'ConceptMap',
      group: [{ element: [{ code: 'X', target: [{ equivalence: 'equal' }] }] }],
    };
    const [row] = readConceptMapRows(resource, {
      ignored: new Map(),
      localSystem: 'urn:lab',
      targetSystem: LOINC,
    });
    assert.equal(row?.given.localSystem, 'urn:lab');
    assert.equal(row?.given.targetSystem, LOINC);
  });

  test('targets that depend on other elements, or lack the equivalence, are faults', () => {
    const target = { code: '718-7', equivalence: 'equivalent', dependsOn: [{ property: 'p', value: 'v' }] };
    const resource = {
      resourceType: 'ConceptMap',
      group: [{ target: LOINC, element: [{ code: 'A', target: [target, { code: '718-7' }] }] }],
    };
    const faults = rowsOf(resource).map(({ fault }) => fault?.en);
    assert.match(faults[0] ?? '', /^has dependsOn or product/);
    assert.match(faults[1] ?? '', /^has no equivalence/);
  });

  test('what has no place in a map is counted', () => {
    const ignored = new Map<string, number>();
    const group = {
      sourceVersion: '1',
      target: LOINC,
      element: [{ id: 'e', code: 'A' }],
      unmapped: { mode: 'fixed' },
    };
    rowsOf({ resourceType: 'ConceptMap', group: [group, group] }, ignored);
    assert.deepEqual(Object.fromEntries(ignored), {
      'group.sourceVersion': 2,
      'group.unmapped': 2,
      'group.element.id': 2,
    });
  });

  test('what is no ConceptMap is refused', () => {
    for (const resource of [null, [], 'text', 1, {}, { resourceType: 'Bundle' }, { resourceType: '<b>' }])
      assert.throws(() => rowsOf(resource), { code: 'bad_map_file' });
    for (const group of [
      {},
      'x',
      [1],
      [{ element: {} }],
      [{ element: ['x'] }],
      [{ element: [{ target: 'x' }] }],
    ])
      assert.throws(
        () => rowsOf({ resourceType: 'ConceptMap', group }),
        { code: 'bad_map_file' },
        JSON.stringify(group),
      );
  });
});

describe('writing a ConceptMap', () => {
  const entry: MapEntry = {
    localSystem: '',
    localCode: 'HGB',
    localDisplay: null,
    targetSystem: LOINC,
    targetCode: '718-7',
    targetDisplay: 'Hemoglobin "in" Blood',
    equivalence: 'equivalent',
    comment: null,
  };
  const written = async (groups: MapGroup[]) =>
    JSON.parse(
      (await Array.fromAsync(conceptMapText({ url: 'urn:uuid:1', title: 'T' }, groups))).join(''),
    ) as unknown;
  async function* pages(...all: MapEntry[][]) {
    yield* all;
  }

  test('groups by system, and leaves out what is not there', async () => {
    const unmatched: MapEntry = {
      ...entry,
      localCode: 'X',
      targetCode: null,
      targetDisplay: null,
      equivalence: 'unmatched',
    };
    const groups = [
      { localSystem: '', targetSystem: LOINC, pages: pages([entry], [unmatched], []) },
      {
        localSystem: 'urn:lab',
        targetSystem: LOINC,
        pages: pages([{ ...entry, localDisplay: 'Hb', comment: 'c' }]),
      },
    ];
    assert.deepEqual(await written(groups), {
      resourceType: 'ConceptMap',
      url: 'urn:uuid:1',
      title: 'T',
      status: 'active',
      group: [
        {
          target: LOINC,
          element: [
            {
              code: 'HGB',
              target: [{ code: '718-7', display: 'Hemoglobin "in" Blood', equivalence: 'equivalent' }],
            },
            { code: 'X', target: [{ equivalence: 'unmatched' }] },
          ],
        },
        {
          source: 'urn:lab',
          target: LOINC,
          element: [
            {
              code: 'HGB',
              display: 'Hb',
              target: [
                { code: '718-7', display: 'Hemoglobin "in" Blood', equivalence: 'equivalent', comment: 'c' },
              ],
            },
          ],
        },
      ],
    });
  });

  test('a group whose entries were deleted meanwhile is left out', async () => {
    const group = (localSystem: string, ...all: MapEntry[][]) => ({
      localSystem,
      targetSystem: LOINC,
      pages: pages(...all),
    });
    const sources = async (...groups: MapGroup[]) =>
      ((await written(groups)) as { group?: { source: string }[] }).group?.map(({ source }) => source);
    assert.deepEqual(await sources(group('urn:a', []), group('urn:b', [entry]), group('urn:c')), ['urn:b']);
    assert.equal(await sources(group('urn:a'), group('urn:c', [])), undefined);
  });

  test('an empty map has no group', async () => {
    assert.deepEqual(await written([]), {
      resourceType: 'ConceptMap',
      url: 'urn:uuid:1',
      title: 'T',
      status: 'active',
    });
  });
});
