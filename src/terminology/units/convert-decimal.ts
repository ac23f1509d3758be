/**
 * Exact arithmetic on the text of decimals, for unit conversion. No double is involved.
 * Contract: TERM-19.
 */

/** `y = x × numerator / denominator + offset`. Whole numbers, denominator above zero; offset as decimal text. */
export interface Conversion {
  numerator: bigint;
  denominator: bigint;
  offset?: string;
}

const PLAIN_DECIMAL = /^(-?)(\d{1,400})(?:\.(\d{1,400}))?$/;

/** A decimal as `units × 10^-scale`. */
interface Scaled {
  units: bigint;
  scale: number;
}

/**
 * Convert a decimal given as text in plain notation.
 *
 * The result is exact whenever it has an end: a factor that is a power of ten only moves the point and keeps
 * every digit (`1.70` × 100 = `170`, `1750` ÷ 10 = `175.0`); any other factor gives at least the source's
 * decimals and more only where they are needed. A result without an end is rounded half to even, to the
 * fewest decimals whose step is not coarser than the source's last digit. Throws RangeError on other text.
 */
export function convertDecimal(text: string, conversion: Conversion): string {
  const scaled = multiply(parseDecimal(text), conversion.numerator, conversion.denominator);
  if (conversion.offset === undefined) return formatDecimal(scaled);
  return formatDecimal(add(scaled, parseDecimal(conversion.offset)));
}

function multiply(value: Scaled, numerator: bigint, denominator: bigint): Scaled {
  const shift = powerOfTen(numerator, denominator);
  if (shift !== undefined) return movePoint(value, shift);
  const product = value.units * numerator;
  const divisor = denominator / greatestCommonDivisor(numerator, denominator);
  const added = decimalsNeeded(divisor);
  if (added === undefined) return divideRounded(value, numerator, denominator);
  return trimZeros(
    { units: (product * 10n ** BigInt(added)) / denominator, scale: value.scale + added },
    value.scale,
  );
}

function movePoint(value: Scaled, shift: number): Scaled {
  const scale = value.scale - shift;
  return scale >= 0
    ? { units: value.units, scale }
    : { units: value.units * 10n ** BigInt(-scale), scale: 0 };
}

function divideRounded(value: Scaled, numerator: bigint, denominator: bigint): Scaled {
  const dividend = value.units * numerator;
  const divisor = denominator * 10n ** BigInt(value.scale);
  let scale = 0;
  while (10n ** BigInt(scale) * numerator < divisor) scale += 1;
  return { units: roundHalfEven(dividend * 10n ** BigInt(scale), divisor), scale };
}

function roundHalfEven(dividend: bigint, divisor: bigint): bigint {
  const negative = dividend < 0n;
  const magnitude = negative ? -dividend : dividend;
  const quotient = magnitude / divisor;
  const twice = (magnitude % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  const rounded = up ? quotient + 1n : quotient;
  return negative ? -rounded : rounded;
}

function add(a: Scaled, b: Scaled): Scaled {
  const scale = Math.max(a.scale, b.scale);
  return {
    units: a.units * 10n ** BigInt(scale - a.scale) + b.units * 10n ** BigInt(scale - b.scale),
    scale,
  };
}

/** k where the fraction is 10^k; undefined when it is no power of ten. */
function powerOfTen(numerator: bigint, denominator: bigint): number | undefined {
  const [large, small, sign] =
    numerator >= denominator ? [numerator, denominator, 1] : [denominator, numerator, -1];
  if (large % small !== 0n) return undefined;
  const digits = String(large / small);
  return /^10*$/.test(digits) ? sign * (digits.length - 1) : undefined;
}

/** How many decimals one divided by this needs; undefined when it has no end. */
function decimalsNeeded(divisor: bigint): number | undefined {
  let [rest, twos, fives] = [divisor, 0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos += 1;
  for (; rest % 5n === 0n; rest /= 5n) fives += 1;
  return rest === 1n ? Math.max(twos, fives) : undefined;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

function trimZeros(value: Scaled, leastScale: number): Scaled {
  let { units, scale } = value;
  for (; scale > leastScale && units % 10n === 0n; scale -= 1) units /= 10n;
  return { units, scale };
}

/** Whether {@link convertDecimal} takes this text: plain notation, 400 digits before and after the point. */
export function isConvertible(text: string): boolean {
  return PLAIN_DECIMAL.test(text);
}

function parseDecimal(text: string): Scaled {
  const match = PLAIN_DECIMAL.exec(text);
  if (match === null) throw new RangeError('not a decimal in plain notation');
  const [, sign = '', whole = '', fraction = ''] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length };
}

function formatDecimal({ units, scale }: Scaled): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
