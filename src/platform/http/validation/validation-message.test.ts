import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { Type } from '../../json-schema.ts';
import { validationMessage } from './validation-message.ts';

/** The message for the first fault of a value. */
function messageOf(schema: TSchema, value: unknown, part = 'querystring'): string {
  const validate = new Ajv2020({ strict: false, verbose: true }).compile(schema);
  assert.equal(validate(value), false);
  return validationMessage((validate.errors ?? []) as FastifySchemaValidationError[], part);
}

const Count = Type.Object({ _count: Type.Integer({ minimum: 1, maximum: 100 }) });

test('a number out of its range is told both ends of it, as is what is no number', () => {
  for (const wrong of [0, 101, -5, 1.5, 'x'])
    assert.equal(messageOf(Count, { _count: wrong }), '_count must be an integer from 1 to 100.');
});

test('a range with one end, or none', () => {
  assert.equal(
    messageOf(Type.Object({ a: Type.Integer({ minimum: 1 }) }), { a: 0 }),
    'a must be an integer, 1 or more.',
  );
  assert.equal(
    messageOf(Type.Object({ a: Type.Number({ maximum: 9 }) }), { a: 10 }),
    'a must be a number, 9 or less.',
  );
  assert.equal(messageOf(Type.Object({ a: Type.Integer() }), { a: 'x' }), 'a must be an integer.');
});

test('lengths are told in words', () => {
  const Text = Type.Object({ patient: Type.String({ minLength: 1, maxLength: 3 }) });
  assert.equal(messageOf(Text, { patient: '' }), 'patient must not be empty.');
  assert.equal(messageOf(Text, { patient: 'abcd' }), 'patient must have at most 3 characters.');
  const Longer = Type.Object({ a: Type.String({ minLength: 12 }) });
  assert.equal(messageOf(Longer, { a: 'b' }, 'body'), 'a must have at least 12 characters.');
});

test('a parameter that is given too often, or once too often', () => {
  const Dates = Type.Object({ date: Type.Array(Type.String(), { maxItems: 2 }), status: Type.String() });
  const status = 'planned';
  assert.equal(messageOf(Dates, { status, date: ['1', '2', '3'] }), 'date may be given at most 2 times.');
  assert.equal(messageOf(Dates, { date: [], status: ['a', 'b'] }), 'status must be given once.');
  assert.equal(messageOf(Dates, { status }), 'date is missing.');
  assert.equal(messageOf(Count, { _count: ['1', '2'] }), '_count must be given once.');
});

test('a parameter that is missing is told the values that it may have', () => {
  const Purpose = Type.Object({ purpose: Type.Unsafe({ type: 'string', enum: ['A', 'B'] }) });
  assert.equal(messageOf(Purpose, {}), 'purpose is missing. It must be one of A, B.');
  assert.equal(
    messageOf(Type.Object({ nested: Purpose }), { nested: {} }, 'body'),
    'nested.purpose is missing. It must be one of A, B.',
  );
});

test('a boolean of an address is told how it is written; one of a body is a boolean of JSON', () => {
  const Flag = Type.Object({ dryRun: Type.Boolean() });
  assert.equal(messageOf(Flag, { dryRun: '1' }, 'querystring'), 'dryRun must be one of true, false.');
  assert.equal(messageOf(Flag, { dryRun: 'true' }, 'body'), 'dryRun must be a boolean.');
});

test('a property that is not known is told those that are', () => {
  const Body = Type.Object(
    { token: Type.String(), level: Type.Optional(Type.String()) },
    { additionalProperties: false },
  );
  assert.equal(
    messageOf(Body, { token: 'a', stage: 'b' }, 'body'),
    'The body has an unknown property. It may have token, level.',
  );
  assert.equal(
    messageOf(Type.Object({}, { additionalProperties: false }), { a: 1 }, 'body'),
    'The body has an unknown property.',
  );
});

test('a property that is misspelt is named, with the one that was meant [HTTP-4]', () => {
  const Address = Type.Object({ address: Type.String(), clientId: Type.Optional(Type.String()) });
  const Body = Type.Object(
    { ...Address.properties, servers: Type.Optional(Type.Array(Address)) },
    { additionalProperties: false },
  );
  const said = (given: string, meant: string, name = 'The body') =>
    `${name} has the unknown property ${given}. Did you mean ${meant}?`;
  for (const given of ['adress', 'Address', 'addresse', 'adrdess'])
    assert.equal(messageOf(Body, { [given]: 'a' }, 'body'), said(given, 'address'));
  for (const given of ['client_id', 'clientID', 'cleintId'])
    assert.equal(messageOf(Body, { address: 'a', [given]: 'a' }, 'body'), said(given, 'clientId'));
  assert.equal(
    messageOf(Body, { address: 'a', servers: [{ adress: 'b' }] }, 'body'),
    said('adress', 'address', 'servers.0'),
  );
  for (const other of ['dress1', 'add', 'a\nddress', ''])
    assert.equal(messageOf(Body, { [other]: 'a' }, 'body'), 'address is missing.');
  const Noted = Type.Object(
    { updatedAt: Type.Optional(Type.String()), updatedBy: Type.Optional(Type.String()) },
    { additionalProperties: false },
  );
  assert.equal(messageOf(Noted, { updated_by: 'a' }, 'body'), said('updated_by', 'updatedBy'));
  const Named = Type.Object({ sourceCode: Type.String(), sourceCodes: Type.Optional(Type.String()) });
  assert.equal(messageOf(Named, { sourceCodes: 'a' }, 'body'), 'sourceCode is missing.');
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`member${index}`, 'a']));
  assert.equal(messageOf(Address, { ...many, adress: 'a' }, 'body'), 'address is missing.');
  const Short = Type.Object({ id: Type.String() }, { additionalProperties: false });
  assert.equal(
    messageOf(Short, { id: 'a', ip: 'b' }, 'body'),
    'The body has an unknown property. It may have id.',
  );
});

test('no message has the value, or a name that is none [HTTP-4]', () => {
  const Body = Type.Object({ token: Type.String({ maxLength: 3 }) }, { additionalProperties: false });
  const said = [
    messageOf(Body, { token: 'secret value' }, 'body'),
    messageOf(Body, { token: 'a', 'secret value': 1 }, 'body'),
    messageOf(Type.Object({}, { additionalProperties: Type.String() }), { 'secret value': 1 }, 'body'),
  ];
  for (const message of said) assert.doesNotMatch(message, /secret/);
});
