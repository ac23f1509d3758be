import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GroupedReport, GroupedStudy } from '../../../investigations/grouping.store.ts';
import type { GroupedObservation } from '../../../investigations/result-grouping.store.ts';
import { assignDocuments, assignResults } from './assign-orders.ts';

const part = { patientId: 'p', encounterId: null, status: 'final', code: null };
const report = (id: string, more: object = {}) => ({
  ...part,
  id,
  orderId: null,
  basedOnId: null,
  discipline: 'laboratory' as const,
  issuedAt: null,
  studyIds: [],
  resultOrderIds: [],
  ...more,
});
const study = (id: string, more: object = {}) => ({ ...part, id, orderId: null, basedOnId: null, ...more });
const result = (id: string, more: object = {}) => ({
  ...part,
  id,
  facilityId: 'f',
  orderId: null,
  basedOnId: null,
  kind: 'laboratory',
  vitalSign: false,
  category: null,
  memberIds: [],
  specimenId: null,
  effectiveAt: null,
  reportOrderIds: [],
  ...more,
});
interface Parts {
  reports?: GroupedReport[];
  studies?: GroupedStudy[];
  observations?: GroupedObservation[];
}
function assign({ reports = [], studies = [], observations = [] }: Parts): Map<string, string | null> {
  const panels = new Map(
    observations.flatMap(({ id, memberIds }) => memberIds.map((member) => [member, id])),
  );
  return new Map([...assignDocuments({ reports, studies }), ...assignResults({ observations, panels })]);
}
const orderOf = (parts: Parts, id: string) => assign(parts).get(id);

const SURVEY = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'survey' }] },
];

describe('which order a part belongs to', () => {
  test('a report: its basedOn before everything else [IN-17]', () => {
    assert.equal(orderOf({ reports: [report('r', { basedOnId: 'a', orderId: 'b' })] }, 'r'), 'a');
  });

  test('a report: the order of its study, then that of its results, then a made-up one [IN-17]', () => {
    const reports = [report('r', { orderId: 'old', studyIds: ['s'], resultOrderIds: ['of-result'] })];
    const studies = [study('s', { basedOnId: 'of-study' })];
    assert.equal(orderOf({ reports, studies }, 'r'), 'of-study');
    assert.equal(orderOf({ reports: [report('r', { resultOrderIds: ['of-result'] })] }, 'r'), 'of-result');
    assert.match(orderOf({ reports: [report('r', { orderId: 'old' })] }, 'r') ?? '', /^[0-9a-f-]{36}$/);
  });

  test('a report and a study without order share the one made up for the study [IN-18]', () => {
    const parts = { reports: [report('r', { studyIds: ['s'] })], studies: [study('s')] };
    assert.equal(orderOf(parts, 'r'), orderOf(parts, 's'));
  });

  test('a study: the order of the report that lists it [IN-18]', () => {
    const reports = [report('r', { basedOnId: 'a', studyIds: ['s'] })];
    assert.equal(orderOf({ reports, studies: [study('s', { orderId: 'old' })] }, 's'), 'a');
  });

  test('a document that is neither laboratory nor imaging has none', () => {
    assert.equal(orderOf({ reports: [report('r', { discipline: 'other' })] }, 'r'), null);
  });

  test('a result: that of its report, its basedOn, its panel, a made-up one', () => {
    const panel = result('panel', { memberIds: ['o'], basedOnId: 'of-panel' });
    const o = { basedOnId: 'own', orderId: 'old' };
    assert.equal(orderOf({ observations: [panel, result('o', { ...o, reportOrderIds: ['r'] })] }, 'o'), 'r');
    assert.equal(orderOf({ observations: [panel, result('o', o)] }, 'o'), 'own');
    assert.equal(orderOf({ observations: [panel, result('o', { orderId: 'old' })] }, 'o'), 'of-panel');
    assert.match(orderOf({ observations: [result('o', { orderId: 'old' })] }, 'o') ?? '', /^[0-9a-f-]{36}$/);
  });

  test('panels that are members of each other share one order, with what is below them', () => {
    const circle = [result('a', { memberIds: ['b'] }), result('b', { memberIds: ['a', 'c'] }), result('c')];
    for (const observations of [circle, circle.toReversed()]) {
      assert.match(orderOf({ observations }, 'a') ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(orderOf({ observations }, 'a'), orderOf({ observations }, 'b'));
      assert.equal(orderOf({ observations }, 'a'), orderOf({ observations }, 'c'));
    }
  });

  test('panels in panels count up to 10 levels', () => {
    const chain = (more: object) =>
      Array.from({ length: 13 }, (_, level) =>
        result(`c${level}`, { memberIds: [`c${level + 1}`], ...(level === 0 ? more : {}) }),
      );
    const orders = (more: object) => [...assign({ observations: chain(more) }).values()];
    const named = orders({ basedOnId: 's' });
    assert.deepEqual([...new Set(named.slice(0, 11))], ['s']);
    assert.equal(new Set(named).size, 3);
    const madeUp = orders({});
    assert.equal(new Set(madeUp.slice(0, 11)).size, 1);
    assert.equal(new Set(madeUp).size, 3);
  });

  test('a chain of very many panels, and very many studies with their reports', () => {
    const count = 20_000;
    const numbers = Array.from({ length: count }, (_, index) => index);
    const observations = numbers.map((index) => result(`c${index}`, { memberIds: [`c${index + 1}`] }));
    const studies = numbers.map((index) => study(`i${index}`));
    const reports = numbers.map((index) => report(`r${index}`, { studyIds: [`i${index}`] }));
    assert.equal(assign({ reports, studies, observations }).size, 3 * count);
  });

  test('a survey alone has none', () => {
    assert.equal(orderOf({ observations: [result('o', { kind: 'other', category: SURVEY })] }, 'o'), null);
  });
});
