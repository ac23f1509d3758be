/** Random elements of records, for properties. */
import fc from 'fast-check';

/** Text that JSON escapes in some way, also what kept texts have between their parts. */
export const words = fc.oneof(
  fc
    .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    .map((text) => `x${text.replace(/[\s\p{C}_]/gu, '')}`),
  fc.constantFrom('"quoted"', 'back\\slash', 'Öz', '<&>', '🙂', 'a\u2028b', 'a\u001db\u001cc\u001ed\u001fe'),
);

export const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/** One or some. */
export const listOf = <Value>(value: fc.Arbitrary<Value>, maxLength = 2) =>
  fc.array(value, { minLength: 1, maxLength });

/** `requiredKeys` are never left out. */
export function localCoding(requiredKeys: ('system' | 'code')[]) {
  return fc.record(
    {
      system: fc.constant('urn:example:local'),
      version: words,
      code: fc.constantFrom('A', 'B-1', 'c.2'),
      display: words,
      userSelected: fc.boolean(),
    },
    { requiredKeys },
  );
}

/** Digits that PostgreSQL or JavaScript may write in another way. */
export const digits = fc.constantFrom(
  ...['1', '1.50', '0.0', '-0.0', '1e3', '1.20E-3', '1e21', '123456789012345678901.5'],
);
