import assert from 'node:assert/strict';
import { test } from 'node:test';
import TypeBox from 'typebox';
import { Type } from './json-schema.ts';

/** One schema, made by either of two libraries. */
const examples: Readonly<Record<string, (of: typeof Type) => object>> = {
  texts: (of) => of.Object({ a: of.String(), b: of.String({ minLength: 1, description: 'a text' }) }),
  numbers: (of) => of.Array(of.Union([of.Integer({ minimum: 1 }), of.Number(), of.Null(), of.Boolean()])),
  literals: (of) => of.Union([of.Literal('a'), of.Literal(1), of.Literal(true, { description: 'always' })]),
  'all of several': (of) =>
    of.Intersect([of.Object({ a: of.Null() }), of.Object({ b: of.Null() })], { title: 'both' }),
  choices: (of) => of.Enum(['a', 'b'], { description: 'one of two' }),
  'members by name': (of) => of.Record(of.String(), of.Integer(), { description: 'counts' }),
  'what is optional': (of) =>
    of.Object(
      { a: of.Optional(of.Array(of.Null(), { maxItems: 2 })), b: of.Null() },
      { title: 'one of two' },
    ),
  'nothing required': (of) => of.Object({ a: of.Optional(of.Null()) }),
  'an optional one that another schema requires': (of) => {
    const text = of.String();
    return of.Object({ a: of.Object({ text: of.Optional(text) }), b: of.Object({ text }) });
  },
  partial: (of) =>
    of.Partial(of.Object({ a: of.Null(), b: of.Optional(of.Null()) }, { title: 'left out' }), {
      additionalProperties: false,
    }),
  'any other': (of) => of.Object({ a: of.Optional(of.Unsafe<Date>({ type: ['string', 'null'] })) }),
};

for (const [name, example] of Object.entries(examples))
  test(`writes the same as TypeBox: ${name}`, () => {
    assert.equal(JSON.stringify(example(Type)), JSON.stringify(example(TypeBox)));
  });
