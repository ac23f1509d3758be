import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  applyMap,
  NO_TRANSLATIONS,
  type StandardCoding,
  translationKey,
  unmappedCodings,
} from './apply-map.ts';

const LOINC = 'http://loinc.org';
const SNOMED = 'http://snomed.info/sct';
const LOCAL = 'http://hospital.example/lab';

const haemoglobin: StandardCoding = {
  system: LOINC,
  code: '718-7',
  display: 'Hemoglobin [Mass/volume] in Blood',
};
const translations = (
  targets: StandardCoding[],
  local: { system?: string; code: string } = { system: LOCAL, code: 'HGB' },
) => new Map([[translationKey(local), targets]]);

describe('applying a map', () => {
  test('puts the standard coding first and keeps the local one and the text [TERM-3]', () => {
    const concept = {
      text: 'Haemoglobin',
      coding: [{ system: LOCAL, code: 'HGB', display: 'Hb', userSelected: true }],
    };
    const mapped = applyMap(concept, translations([haemoglobin]));
    assert.deepEqual(mapped, { text: 'Haemoglobin', coding: [haemoglobin, ...concept.coding] });
    assert.equal(concept.coding.length, 1, 'the concept given is not changed');
  });

  test('puts LOINC before other standard systems [TERM-1]', () => {
    const snomed = { system: SNOMED, code: '259695003' };
    const mapped = applyMap(
      { coding: [{ system: LOCAL, code: 'HGB' }] },
      translations([snomed, haemoglobin]),
    );
    assert.deepEqual(mapped.coding, [haemoglobin, snomed, { system: LOCAL, code: 'HGB' }]);
  });

  test('moves a standard coding that the source gave to the front, and adds no second one of its system', () => {
    const own = { system: LOINC, code: '20509-6' };
    const mapped = applyMap({ coding: [{ system: LOCAL, code: 'HGB' }, own] }, translations([haemoglobin]));
    assert.deepEqual(mapped.coding, [own, { system: LOCAL, code: 'HGB' }]);
  });

  test('a coding of the standard system that has no code is in the way of none [TERM-3]', () => {
    const coding = [
      { system: LOINC, display: 'Hemoglobin' },
      { system: LOCAL, code: 'HGB' },
    ];
    const mapped = applyMap({ coding }, translations([haemoglobin]));
    assert.deepEqual(mapped.coding, [haemoglobin, ...coding]);
  });

  test('finds codes that came without a system', () => {
    const mapped = applyMap({ coding: [{ code: 'HGB' }] }, translations([haemoglobin], { code: 'HGB' }));
    assert.deepEqual(mapped.coding, [haemoglobin, { code: 'HGB' }]);
  });

  test('leaves unmapped concepts and those of text alone as they are', () => {
    const unmapped = { coding: [{ system: LOCAL, code: 'X' }] };
    assert.deepEqual(applyMap(unmapped, translations([haemoglobin])), unmapped);
    assert.deepEqual(applyMap({ text: 'only text' }, translations([haemoglobin])), { text: 'only text' });
    assert.deepEqual(applyMap({ text: 'empty', coding: [] }, new Map()), { text: 'empty', coding: [] });
  });
});

describe('what is unmapped', () => {
  test('the local codings of a concept without a standard one', () => {
    const local = { system: LOCAL, code: 'X' };
    assert.deepEqual(
      unmappedCodings(
        { coding: [local, { code: 'Y' }, { system: LOCAL, display: 'no code' }] },
        NO_TRANSLATIONS,
      ),
      [local, { code: 'Y' }],
    );
  });
  test('nothing, once there is a standard coding, and for text alone', () => {
    const standard = { coding: [haemoglobin, { system: LOCAL, code: 'X' }] };
    assert.deepEqual(unmappedCodings(standard, NO_TRANSLATIONS), []);
    assert.deepEqual(unmappedCodings({ text: 'only text' }, NO_TRANSLATIONS), []);
  });
});
