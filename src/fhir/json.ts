/**
 * JSON that keeps the digits of decimals (FHIR R4 datatypes, "decimal": precision is significant).
 *
 * A number whose source text JavaScript would print differently (`1.20`, `7.0`, `1e3`, more digits than a
 * double holds) is read as a {@link Decimal}; every other number is a plain number.
 * Contract: HTTP-29.
 */

/** A decimal as its literal text in plain notation. `JSON.stringify` writes the text unquoted. */
export class Decimal {
  readonly text: string;

  constructor(text: string) {
    this.text = plainNotation(text);
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/**
 * Parse JSON text, keeping decimals to the digit. Throws SyntaxError on bad JSON, and for a number with an
 * exponent beyond 400, which would take that many digits to write.
 */
export function parseFhirJson(text: string): unknown {
  // Looking at each value takes several times as long as reading them.
  if (!MAY_LOSE_DIGITS.test(text)) return JSON.parse(text);
  return JSON.parse(text, reviveNumber as (key: string, value: unknown) => unknown);
}

/**
 * Matches text that has a number which JavaScript may print differently: one with an exponent, with 16 characters or more,
 * with a zero at the end of its fraction, below 0.000001, or `-0`. It may match within a string, too. Runs of digits that
 * have no end are let through first: the expression would take as much memory as they are long.
 */
const MAY_LOSE_DIGITS =
  /(?:^|[\s,:[])(?:-?\d[\d.]{400}|-?\d+(?:\.\d+)?[eE][+-]?\d|(?:-0|-?\d[\d.]{15,}|-?\d+\.\d*0|-?0\.0{6}\d+)(?=[\s,\]}]|$))/;

/** The literal text of a parsed number; undefined when the value is no number. */
export function decimalText(value: unknown): string | undefined {
  if (value instanceof Decimal) return value.text;
  return typeof value === 'number' ? plainNotation(String(value)) : undefined;
}

function reviveNumber(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  if (String(value) === context.source) return value;
  try {
    return new Decimal(context.source);
  } catch (error) {
    throw new SyntaxError('a number is too large or too small', { cause: error });
  }
}

/** `1.5e3` → `1500`, `2e-3` → `0.002`; digits are kept, the exponent is spelled out. */
function plainNotation(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) throw new RangeError('not a decimal');
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (exponent === 0) return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
  if (Math.abs(exponent) > 400) throw new RangeError('a decimal has too large an exponent');
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  const padded = digits.padEnd(point, '0');
  const integer = padded.slice(0, point).replace(/^0+(?=\d)/, '');
  return padded.length > point ? `${sign}${integer}.${padded.slice(point)}` : `${sign}${integer}`;
}
