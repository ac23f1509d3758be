import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Decimal, decimalText, parseFhirJson } from './json.ts';

/** Decimals as JSON may write them: sign, digits, fraction, exponent. */
const digits = (min: number, max: number) =>
  fc.array(fc.constantFrom(...'0123456789'), { minLength: min, maxLength: max }).map((all) => all.join(''));
const plain = fc
  .tuple(fc.constantFrom('', '-'), digits(1, 25), fc.option(digits(1, 25)))
  .map(([sign, whole, fraction]) => {
    const stripped = whole.replace(/^0+(?=\d)/, '');
    return fraction === null ? `${sign}${stripped}` : `${sign}${stripped}.${fraction}`;
  });
const exponential = fc
  .tuple(plain, fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 60 }))
  .map(([text, e, sign, exponent]) => `${text}${e}${sign}${exponent}`);

describe('parseFhirJson', () => {
  test('gives every decimal back digit for digit [HTTP-29]', () => {
    fc.assert(
      fc.property(fc.array(plain), (numbers) => {
        const text = `{"values":[${numbers.join(',')}]}`;
        assert.equal(JSON.stringify(parseFhirJson(text)), text);
      }),
    );
  });

  test('gives a decimal that stands alone back digit for digit, wherever it stands [HTTP-29]', () => {
    const small = digits(1, 20).map((fraction) => `0.000000${fraction}`);
    const places = [(n: string) => n, (n: string) => `[${n}]`, (n: string) => `{"a":[true,${n}]}`];
    fc.assert(
      fc.property(fc.oneof(plain, small), fc.constantFrom(...places), (number, place) => {
        assert.equal(JSON.stringify(parseFhirJson(place(number))), place(number));
        assert.equal(JSON.stringify(parseFhirJson(` ${place(` ${number}\n`)}`)), place(number));
      }),
      { numRuns: 2_000 },
    );
  });

  test('keeps the digits that a double would lose [HTTP-29]', () => {
    for (const text of [
      '1.20',
      '7.0',
      '0.10',
      '-0.0',
      '-0',
      '100',
      '0.1',
      '12345678901234567890.123456789012345678901234567890',
      '9007199254740993',
      '0.000000000000000000000000000000000001',
    ]) {
      assert.equal(JSON.stringify(parseFhirJson(text)), text);
      assert.equal(decimalText(parseFhirJson(text)), text);
    }
  });

  test('reads a string of digits, however long it is', () => {
    const digits = ` ${'1'.repeat(7_000_000)}`;
    assert.equal(parseFhirJson(JSON.stringify(digits)), digits);
  });

  test('writes an exponent out, without changing the value or its precision', () => {
    const written: Record<string, string> = {
      '1e3': '1000',
      '1.5e3': '1500',
      '1.50e1': '15.0',
      '1.20e0': '1.20',
      '2e-3': '0.002',
      '2.0E-3': '0.0020',
      '-1.5E+2': '-150',
      '0.5e1': '5',
      '0e5': '0',
      '0.00e2': '0',
      '12e-1': '1.2',
      '1e21': '1000000000000000000000',
    };
    for (const [text, wanted] of Object.entries(written))
      assert.equal(decimalText(parseFhirJson(text)), wanted, text);
    fc.assert(
      fc.property(exponential, (text) => {
        const result = decimalText(parseFhirJson(text)) ?? '';
        assert.match(result, /^-?(0|[1-9]\d*)(\.\d+)?$/);
        assert.equal(Number(result), Number(text));
      }),
    );
  });

  test('leaves numbers that are the same in JavaScript plain', () => {
    assert.deepEqual(parseFhirJson('{"a":5,"b":0.1,"c":-3}'), { a: 5, b: 0.1, c: -3 });
  });

  test('reads everything else as JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.jsonValue().filter((value) => !JSON.stringify(value).match(/\d/)),
        (value) => assert.deepEqual(parseFhirJson(JSON.stringify(value)), JSON.parse(JSON.stringify(value))),
      ),
    );
  });

  test('says SyntaxError to what is no JSON, and to numbers beyond all measure', () => {
    for (const text of [
      '',
      '{',
      '01',
      '1.',
      '.5',
      '+1',
      'NaN',
      'Infinity',
      '"',
      '1e999999999999',
      '-1E-100000',
    ])
      assert.throws(() => parseFhirJson(text), SyntaxError, text);
  });
});

describe('Decimal', () => {
  test('is written unquoted inside a document', () => {
    assert.equal(
      JSON.stringify({ value: new Decimal('1.20'), list: [new Decimal('7.0')] }),
      '{"value":1.20,"list":[7.0]}',
    );
    assert.equal(`${new Decimal('1.20')}`, '1.20');
  });

  test('takes only a decimal', () => {
    for (const text of ['', ' 1', '1 ', '1,5', 'x', '1.', '.1', '--1', '0x10', '1;drop', 'Infinity'])
      assert.throws(() => new Decimal(text), RangeError, text);
  });
});

describe('decimalText', () => {
  test('is undefined for what is no number', () => {
    for (const value of ['1', null, undefined, true, {}, []]) assert.equal(decimalText(value), undefined);
  });

  test('writes small and large numbers without exponent', () => {
    assert.equal(decimalText(1e-7), '0.0000001');
    assert.equal(decimalText(1e21), '1000000000000000000000');
    assert.equal(decimalText(0), '0');
  });
});
