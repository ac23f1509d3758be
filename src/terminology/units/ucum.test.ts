import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import fc from 'fast-check';
import { differsInSize, isUcum, normaliseUnit } from './ucum.ts';

const UCUM = 'http://unitsofmeasure.org';

describe('valid UCUM codes', () => {
  const good =
    "mg/dL g/L mmol/L [IU]/L m[IU]/mL U/L 10*3/uL 10*9/L /min {beats}/min % {score} mm[Hg] Cel [degF] [in_i] [lb_av] kg/m2 mL/min/{1.73_m2} [arb'U]/mL 1 (mg/dL)/h 10^3/uL ng/mL{FEU} /[HPF]";
  for (const code of good.split(' ')) test(`${code} is`, () => assert.equal(isUcum(code), true));
  const bad = [
    '',
    ' ',
    'mg / dL',
    'mmHg',
    'bpm',
    'mEq/L',
    'IU/L',
    'x10E3/uL',
    '#/uL',
    'sec',
    'mg/',
    '{',
    '()',
    'µg/L',
    'toString',
    '__proto__',
    'constructor',
  ];
  for (const code of [...bad, 'g'.repeat(101)])
    test(`${JSON.stringify(code.slice(0, 20))} is not [TERM-6]`, () => assert.equal(isUcum(code), false));
});

test('no text throws or makes the library print what it was given', () => {
  const log = mock.method(console, 'log', () => undefined);
  const pieces =
    'mg L ( ) { } [ ] {x} / . 2 10* - + % ^ Hg [IU] \' " * $ 1.73 E µ () )2 toString __proto__'.split(' ');
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (code) => {
      isUcum(code);
      differsInSize('mg', code);
    }),
    { numRuns: 5_000 },
  );
  const printed = log.mock.calls.map((call) => call.arguments[0]);
  log.mock.restore();
  assert.deepEqual(printed, []);
});

describe('the unit of a laboratory quantity', () => {
  const cases: [name: string, source: object, expected: object][] = [
    [
      'a coded unit stays',
      { unit: 'mg/dl', system: UCUM, code: 'mg/dL' },
      { unit: 'mg/dl', system: UCUM, code: 'mg/dL' },
    ],
    ['a code without text stays without', { system: UCUM, code: 'mg/dL' }, { system: UCUM, code: 'mg/dL' }],
    ['a code without a system is UCUM if it is valid', { code: 'g/L' }, { system: UCUM, code: 'g/L' }],
    [
      'text that is UCUM becomes the code',
      { unit: 'mmol/L' },
      { unit: 'mmol/L', system: UCUM, code: 'mmol/L' },
    ],
    [
      'a code that UCUM does not know gives way to text that it does',
      { unit: 'g/L', system: UCUM, code: 'gpl' },
      { unit: 'g/L', system: UCUM, code: 'g/L' },
    ],
    ['text that is not UCUM stays text', { unit: 'IU/L' }, { unit: 'IU/L' }],
    ['a bad code without text stays as text', { system: UCUM, code: 'mmHg' }, { unit: 'mmHg' }],
    [
      'a code of another system stays',
      { unit: 'g/L', system: 'urn:oid:1.2', code: 'GL' },
      { unit: 'g/L', system: 'urn:oid:1.2', code: 'GL' },
    ],
    [
      'another system without a code stays',
      { unit: 'g/L', system: 'urn:oid:1.2' },
      { unit: 'g/L', system: 'urn:oid:1.2' },
    ],
    [
      'UCUM without a code gets the code',
      { unit: 'g/L', system: UCUM },
      { unit: 'g/L', system: UCUM, code: 'g/L' },
    ],
    ['nothing stays nothing', {}, {}],
  ];
  for (const [name, source, expected] of cases)
    test(name, () => assert.deepEqual(JSON.parse(JSON.stringify(normaliseUnit(source))), expected));

  test('text that means another thing in UCUM is not taken for it', () => {
    for (const unit of ['K/uL', 'M/uL', 'm/uL', 'C', 'F', 'PG', 'G', 'T', '1'])
      assert.deepEqual(normaliseUnit({ unit }), { unit }, unit);
  });
  test('the source is believed where it says UCUM [TERM-21]', () => {
    const source = { unit: 'K/uL', system: UCUM, code: 'K/uL' };
    assert.deepEqual(normaliseUnit(source), source);
  });
});
