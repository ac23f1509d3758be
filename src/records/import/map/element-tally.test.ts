import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ElementTally } from './element-tally.ts';

test('an element is named with the first entry of its file, in whatever order entries are read [IN-7]', () => {
  const early = new ElementTally();
  early.add('Patient.photo', 6);
  early.add('Patient.photo', 3);
  const late = new ElementTally();
  late.add('Patient.photo', 2);
  const all = new ElementTally();
  all.addAll(early, 'a.json');
  assert.deepEqual(all.counts(), [{ element: 'Patient.photo', count: 2, file: 'a.json', entry: 3 }]);
  all.addAll(late, 'b.json');
  assert.deepEqual(all.counts(), [{ element: 'Patient.photo', count: 3, file: 'a.json', entry: 3 }]);
  all.addAll(late, 'a.json');
  assert.deepEqual(all.counts(), [{ element: 'Patient.photo', count: 4, file: 'a.json', entry: 2 }]);
});

test('of files that are read at once, the one whose name sorts first is named [IN-7]', () => {
  const one = new ElementTally();
  one.add('Patient.photo', 5);
  const all = new ElementTally();
  for (const file of ['b.json', 'a.json', 'c.json']) all.addAll(one, file);
  assert.deepEqual(all.counts(), [{ element: 'Patient.photo', count: 3, file: 'a.json', entry: 5 }]);
});
