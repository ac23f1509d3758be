import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { allowedVitalUnits, vitalQuantity } from './vital-units.ts';

const UCUM = 'http://unitsofmeasure.org';

// R4 "Vital Signs": the profile of each code and the units that it fixes.
const PROFILE_UNITS: [code: string, units: string[]][] = [
  ['9279-1', ['/min']],
  ['8867-4', ['/min']],
  ['2708-6', ['%']],
  ['59408-5', ['%']],
  ['8310-5', ['Cel', '[degF]']],
  ['8302-2', ['cm', '[in_i]']],
  ['9843-4', ['cm', '[in_i]']],
  ['29463-7', ['kg', 'g', '[lb_av]']],
  ['39156-5', ['kg/m2']],
  ['8480-6', ['mm[Hg]']],
  ['8462-4', ['mm[Hg]']],
];

describe('units that the profiles allow', () => {
  for (const [code, units] of PROFILE_UNITS) {
    test(`${code} takes ${units.join(', ')} as they are`, () => {
      assert.deepEqual(allowedVitalUnits(code), units);
      for (const unit of units)
        assert.deepEqual(
          vitalQuantity(code, { value: '7.10', unit: 'as printed', system: UCUM, code: unit }),
          {
            value: '7.10',
            unit: 'as printed',
            system: UCUM,
            code: unit,
            converted: false,
          },
        );
    });
  }
});

describe('spellings become UCUM, the text of the source stays', () => {
  const cases: [code: string, spelling: string, ucum: string][] = [
    ['8867-4', 'bpm', '/min'],
    ['8867-4', 'beats/min', '/min'],
    ['9279-1', 'breaths/min', '/min'],
    ['9279-1', 'Breaths / Minute', '/min'],
    ['8480-6', 'mmHg', 'mm[Hg]'],
    ['8462-4', 'mm Hg', 'mm[Hg]'],
    ['8310-5', 'C', 'Cel'],
    ['8310-5', 'ºC', 'Cel'],
    ['8310-5', '℃', 'Cel'],
    ['8310-5', 'Deg. F', '[degF]'],
    ['8310-5', 'F', '[degF]'],
    ['2708-6', 'percent', '%'],
    ['8302-2', 'CM', 'cm'],
    ['8302-2', 'in.', '[in_i]'],
    ['29463-7', 'kgs', 'kg'],
    ['29463-7', 'Lbs', '[lb_av]'],
    ['29463-7', 'lb', '[lb_av]'],
    ['39156-5', 'kg/m²', 'kg/m2'],
    ['39156-5', 'kg/m^2', 'kg/m2'],
  ];
  for (const [code, spelling, ucum] of cases) {
    test(`${spelling} of ${code} is ${ucum} [TERM-19]`, () => {
      const expected = { value: '98.60', unit: spelling, system: UCUM, code: ucum, converted: false };
      assert.deepEqual(vitalQuantity(code, { value: '98.60', unit: spelling }), expected);
      assert.deepEqual(
        vitalQuantity(code, { value: '98.60', unit: spelling, system: UCUM, code: spelling }),
        expected,
      );
    });
  }
});

describe('other units are converted exactly', () => {
  const cases: [code: string, value: string, unit: string, expected: string, ucum: string][] = [
    ['8302-2', '1.70', 'm', '170', 'cm'],
    ['8302-2', '1705', 'mm', '170.5', 'cm'],
    ['8302-2', '5.5', 'ft', '66.0', '[in_i]'],
    ['29463-7', '3400500', 'milligrams', '3400.500', 'g'],
    ['29463-7', '120', 'oz', '7.5', '[lb_av]'],
    ['29463-7', '11', 'stone', '154', '[lb_av]'],
    ['8310-5', '310.15', 'K', '37.00', 'Cel'],
    ['8480-6', '16.0', 'kPa', '120.0', 'mm[Hg]'],
    ['8480-6', '12.0', 'cmHg', '120', 'mm[Hg]'],
  ];
  for (const [code, value, unit, expected, ucum] of cases) {
    test(`${value} ${unit} of ${code} is ${expected} ${ucum} [TERM-19]`, () => {
      assert.deepEqual(vitalQuantity(code, { value, unit }), {
        value: expected,
        unit: ucum,
        system: UCUM,
        code: ucum,
        converted: true,
      });
    });
  }
});

describe('what does not fit', () => {
  test('a unit of another kind is a fault that names the units that fit [TERM-20]', () => {
    const fault = { fault: 'unit-does-not-fit', allowed: ['Cel', '[degF]'] };
    assert.deepEqual(vitalQuantity('8310-5', { value: '1', unit: 'kg' }), fault);
    assert.deepEqual(vitalQuantity('8310-5', { value: '1', system: UCUM, code: '[in_i]' }), fault);
    assert.deepEqual(vitalQuantity('29463-7', { value: '1', unit: 'Mg' }), {
      fault: 'unit-does-not-fit',
      allowed: ['kg', 'g', '[lb_av]'],
    });
  });
  test('a code of another system is not taken for UCUM', () => {
    assert.deepEqual(vitalQuantity('29463-7', { value: '1', system: 'urn:local', code: 'kg' }), {
      fault: 'unit-does-not-fit',
      allowed: ['kg', 'g', '[lb_av]'],
    });
  });
  test('a missing unit is a fault, never guessed', () => {
    assert.deepEqual(vitalQuantity('8867-4', { value: '70' }), { fault: 'no-unit', allowed: ['/min'] });
    assert.deepEqual(vitalQuantity('8867-4', { value: '70', unit: ' ' }), {
      fault: 'unit-does-not-fit',
      allowed: ['/min'],
    });
  });
  test('a unit without end is none, and is found to be none at once [TERM-22]', async () => {
    const fault = { fault: 'unit-does-not-fit', allowed: ['/min'] };
    for (const space of [' ', '/', '. ']) {
      const unit = `a${space.repeat(100_000)}b`;
      const look = () => assert.deepEqual(vitalQuantity('8867-4', { value: '70', unit }), fault);
      assert.ok((await cpuMs(look)) < 1_000);
    }
    assert.deepEqual(vitalQuantity('8867-4', { value: '70', unit: `bpm${' '.repeat(98)}` }), fault);
    const spaced = `beats${' '.repeat(40)}/${' '.repeat(40)}min`;
    assert.ok('code' in (vitalQuantity('8867-4', { value: '70', unit: spaced }) ?? {}));
  });
  test('a value of too many digits to convert is never given in another unit [TERM-20, TERM-22]', () => {
    const value = '1'.repeat(401);
    assert.deepEqual(vitalQuantity('8302-2', { value, unit: 'm' }), {
      fault: 'unit-does-not-fit',
      allowed: ['cm', '[in_i]'],
    });
    assert.deepEqual(vitalQuantity('8302-2', { value, unit: 'cm' }), {
      value,
      unit: 'cm',
      system: UCUM,
      code: 'cm',
      converted: false,
    });
  });
  test('codes without a fixed unit are left to the base profile', () => {
    assert.equal(vitalQuantity('72514-3', { value: '3', unit: '{score}' }), undefined);
    assert.equal(allowedVitalUnits('85354-9'), undefined);
    assert.equal(allowedVitalUnits('constructor'), undefined);
  });
});
