import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observationResource } from '../../../test-support/records/observation-resources.ts';
import { ElementReader } from '../../fhir/reading/element-reader.ts';
import { emitContext } from '../content/coded-content.ts';
import type { ReadContext } from '../description/read-context.ts';
import { type ObservedValue, rangeInUcum, value, valueQuantityOf } from './value.fhir.ts';

const UCUM = 'http://unitsofmeasure.org';
const quantityOf = (value: Omit<ObservedValue, 'valueType'>) =>
  JSON.parse(JSON.stringify(valueQuantityOf({ valueType: 'Quantity', ...value } as ObservedValue)));

test('a unit text that is a UCUM code becomes one [TERM-21]', () => {
  assert.deepEqual(quantityOf({ valueUnit: 'mmol/L' }), { unit: 'mmol/L', system: UCUM, code: 'mmol/L' });
});

test('a unit text that UCUM does not know, or knows as something else, stays text', () => {
  assert.deepEqual(quantityOf({ valueUnit: 'IU/L' }), { unit: 'IU/L' });
  assert.deepEqual(quantityOf({ valueUnit: 'K/uL' }), { unit: 'K/uL' });
});

test('a coded unit stays as it came [TERM-21]', () => {
  const coded = { unit: 'thousand', system: UCUM, code: '10*3/uL' };
  assert.deepEqual(
    quantityOf({ valueUnit: 'thousand', valueUnitSystem: UCUM, valueUnitCode: '10*3/uL' }),
    coded,
  );
  const local = { valueUnit: 'g/L', valueUnitSystem: 'urn:oid:1.2', valueUnitCode: 'GL' };
  assert.deepEqual(quantityOf(local), { unit: 'g/L', system: 'urn:oid:1.2', code: 'GL' });
});

test('a code that is not UCUM is never sent as UCUM, and never without a system (R4 qty-3)', () => {
  assert.deepEqual(quantityOf({ valueUnitSystem: UCUM, valueUnitCode: 'mmHg' }), { unit: 'mmHg' });
  assert.deepEqual(quantityOf({ valueUnitCode: 'mmHg' }), { unit: 'mmHg' });
});

test('a range, a ratio, sampled data and an age are kept with the same units as a value [TERM-21]', () => {
  const coded = { value: 1, unit: 'g/L', system: UCUM, code: 'g/L' };
  const none = { value: 1, unit: 'x10E3/uL', system: UCUM, code: 'x10E3/uL' };
  const text = { value: 1, unit: 'x10E3/uL' };
  const sampled = { period: 10, dimensions: 1 };
  for (const [name, given, kept] of [
    ['valueRange', { low: { value: 1, unit: 'g/L' }, high: none }, { low: coded, high: text }],
    ['valueRatio', { numerator: none, denominator: coded }, { numerator: text, denominator: coded }],
    ['valueSampledData', { ...sampled, origin: none }, { ...sampled, origin: text }],
    // FHIR has no empty objects.
    ['valueRange', { low: { system: UCUM }, high: coded }, { low: { system: UCUM }, high: coded }],
    ['valuePeriod', { start: '2024' }, { start: '2024' }],
  ] as const) {
    const { values } = value().read(
      new ElementReader({ [name]: given }, 'T', 'UTC'),
      'value',
      {} as ReadContext,
    );
    assert.deepEqual(values.value_structure, kept, name);
  }
  assert.deepEqual(rangeInUcum(new ElementReader({ low: none }, 'T', 'UTC')), { low: text });
});

test('the bounds of a reference range have the same units as a value', () => {
  const record = {
    id: 'i',
    patientId: 'p',
    kind: 'laboratory',
    status: 'final',
    code: { text: 'Na' },
  } as const;
  const referenceRanges = [{ lowNumber: 3, lowUnit: 'mmol/L', text: 'adults' }];
  const resource = observationResource({ ...record, referenceRanges }, emitContext('o', new Map()));
  const elements = resource.referenceRange;
  assert.deepEqual(JSON.parse(JSON.stringify(elements)), [
    { low: { value: 3, unit: 'mmol/L', system: UCUM, code: 'mmol/L' }, text: 'adults' },
  ]);
});
