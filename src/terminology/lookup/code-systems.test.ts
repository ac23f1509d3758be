import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isStandardSystem, loincCheckDigit, loincFault, officialDisplay } from './code-systems.ts';

describe('LOINC check digit', () => {
  // Codes that LOINC publishes, among them those of the R4 vital-signs profiles.
  const published =
    '9279-1 8867-4 2708-6 59408-5 8310-5 8302-2 9843-4 29463-7 39156-5 85354-9 8480-6 8462-4 72514-3 718-7 4548-4 2345-7 2160-0 24323-8 58410-2 11502-2 18748-4 55284-4 85353-1 6690-2 789-8';
  for (const code of published.split(' '))
    test(`${code} is good`, () => assert.equal(loincFault(code), undefined));

  test('any one digit mistyped is caught [TERM-6]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9_999_999 }),
        fc.nat(7),
        fc.integer({ min: 1, max: 9 }),
        (number, at, by) => {
          const good = `${number}${loincCheckDigit(String(number))}`;
          const position = at % good.length;
          const digit = (Number(good[position]) + by) % 10;
          const bad = `${good.slice(0, position)}${digit}${good.slice(position + 1)}`;
          assert.match(loincFault(`${bad.slice(0, -1)}-${bad.slice(-1)}`)?.en ?? '', /check digit/);
        },
      ),
    );
  });

  test('two neighbouring digits swapped are caught, but for 0 and 9', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 9_999_999 }), fc.nat(6), (number, at) => {
        const text = String(number);
        const position = at % (text.length - 1);
        const a = text.charAt(position);
        const b = text.charAt(position + 1);
        fc.pre(a !== b && new Set([a, b, '0', '9']).size > 2);
        const swapped = `${text.slice(0, position)}${b}${a}${text.slice(position + 2)}`;
        assert.notEqual(loincCheckDigit(swapped), loincCheckDigit(text));
      }),
    );
  });

  test('what has not the shape of a code is refused', () => {
    for (const code of [
      '',
      '7187',
      '718-',
      '-7',
      '718-77',
      ' 718-7',
      '718-7 ',
      'LP7187-7',
      '７18-7',
      '123456789-0',
    ])
      assert.match(loincFault(code)?.en ?? '', /not a LOINC code/, code);
  });

  test('answer codes are taken', () => assert.equal(loincFault('LA6576-8'), undefined));
});

test('standard systems are told from local ones', () => {
  for (const system of [
    'http://loinc.org',
    'http://snomed.info/sct',
    'http://terminology.hl7.org/CodeSystem/v2-0074',
  ])
    assert.equal(isStandardSystem(system), true, system);
  for (const system of [undefined, '', 'urn:oid:1.2.3', 'http://loinc.org/', 'http://hospital.example/lab'])
    assert.equal(isStandardSystem(system), false, String(system));
});

test('displays are known for the codes of the vital-signs profiles only', () => {
  assert.equal(officialDisplay('8867-4'), 'Heart rate');
  assert.equal(officialDisplay('718-7'), undefined);
  assert.equal(officialDisplay('toString'), undefined);
});
