import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertDecimal } from './convert-decimal.ts';

const times = (numerator: bigint, denominator = 1n) => ({ numerator, denominator });

test('a power of ten moves the point and keeps every digit', () => {
  assert.equal(convertDecimal('1.70', times(100n)), '170');
  assert.equal(convertDecimal('1.705', times(100n)), '170.5');
  assert.equal(convertDecimal('1.7', times(100n)), '170');
  assert.equal(convertDecimal('1750', times(1n, 10n)), '175.0');
  assert.equal(convertDecimal('5', times(1n, 1000n)), '0.005');
  assert.equal(convertDecimal('0.30000000000000000001', times(10n)), '3.0000000000000000001');
});

test('any other factor is exact where the result has an end, without added zeros', () => {
  assert.equal(convertDecimal('5.50', times(12n)), '66.00');
  assert.equal(convertDecimal('1', times(1n, 16n)), '0.0625');
  assert.equal(convertDecimal('8.0', times(1n, 16n)), '0.5');
  assert.equal(convertDecimal('16', times(1n, 16n)), '1');
  assert.equal(convertDecimal('3', times(6n, 12n)), '1.5');
});

test('a result without an end is rounded half to even, no coarser than the source', () => {
  assert.equal(convertDecimal('16.0', times(1_000_000n, 133_322n)), '120.0');
  assert.equal(convertDecimal('16', times(1_000_000n, 133_322n)), '120');
  assert.equal(convertDecimal('10.53', times(1_000_000n, 133_322n)), '78.98');
  assert.equal(convertDecimal('-10.53', times(1_000_000n, 133_322n)), '-78.98');
  assert.equal(convertDecimal('1', times(1n, 3n)), '0.3');
});

test('an offset is added exactly', () => {
  assert.equal(convertDecimal('310.15', { ...times(1n), offset: '-273.15' }), '37.00');
  assert.equal(convertDecimal('273.1', { ...times(1n), offset: '-273.15' }), '-0.05');
  assert.equal(convertDecimal('273.15', { ...times(1n), offset: '-273.15' }), '0.00');
});

test('text that is no decimal in plain notation is refused', () => {
  for (const text of ['', '.5', '5.', '1e3', '+1', ' 1', '1,5', 'NaN', '--1', '1'.repeat(401)])
    assert.throws(() => convertDecimal(text, times(1n)), RangeError, text);
});

test('a conversion and its inverse give back the same number', () => {
  const decimal = fc.tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.nat(12)).map(([units, scale]) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
    const body = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
    return units < 0n ? `-${body}` : body;
  });
  fc.assert(
    fc.property(decimal, fc.constantFrom(100n, 12n, 14n, 16n, 1000n), (text, factor) => {
      const there = convertDecimal(text, times(factor));
      assert.equal(canonical(convertDecimal(there, times(1n, factor))), canonical(text));
    }),
  );
});

function canonical(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
