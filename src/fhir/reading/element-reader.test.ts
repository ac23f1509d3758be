import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFhirJson } from '../json.ts';
import { address, codeableConcept, contactPoint, period, readIdentifier } from './datatypes.ts';
import { ElementReader } from './element-reader.ts';
import { type JsonObject, ResourceRejected } from './json-resource.ts';

const read = (value: unknown): ElementReader => new ElementReader({ x: value }, 'T', 'UTC');
const refuses = (work: () => unknown, message: string) => assert.throws(work, new ResourceRejected(message));

test('values of each data type, and what each refuses', () => {
  assert.equal(read('ok').string('x'), 'ok');
  refuses(() => read('').string('x'), 'T.x is empty');
  refuses(() => read(7).string('x'), 'T.x is not a string');
  refuses(() => read(null).string('x'), 'T.x is null');
  refuses(() => read('a\0b').string('x'), 'T.x contains the character NUL');
  refuses(() => read('\ud800').string('x'), 'T.x contains half of a character (one surrogate of two)');
  refuses(
    () => read('y'.repeat(1_048_577)).string('x'),
    'T.x is longer than the limit of 1048576 characters',
  );
  assert.deepEqual(read(['a', null, 'b']).strings('x'), ['a', 'b']);
  assert.equal(read(' a ').string('x'), ' a ');
  for (const blank of [' ', '\t\r\n', '\u00a0\u3000']) {
    assert.equal(read(blank).string('x'), undefined);
    assert.deepEqual(read(['a', blank]).strings('x'), ['a']);
    assert.equal(read([blank]).strings('x'), undefined);
    refuses(() => read(blank).code('x'), 'T.x is not a FHIR code');
    refuses(() => read(blank).uri('x'), 'T.x is not a FHIR uri');
  }
  refuses(() => read([]).strings('x'), 'T.x is an empty list');
  refuses(() => read('a').strings('x'), 'T.x is not a list');
  assert.equal(read('in-progress').code('x'), 'in-progress');
  for (const code of ['', ' a', 'a ', 'a  b', 'a\tb\n', 'a\tb', 'a\nb', 'a\rb', 'a\vb'])
    assert.throws(() => read(code).code('x'), ResourceRejected);
  for (const code of ['a b c', 'a\u00a0b', 'a\u3000b']) assert.equal(read(code).code('x'), code);
  refuses(() => read('c').code('x', ['a', 'b']), 'T.x is not one of a, b');
  assert.equal(read('urn:oid:1.2').uri('x'), 'urn:oid:1.2');
  refuses(() => read('http://a b').uri('x'), 'T.x is not a FHIR uri');
  assert.equal(read(false).boolean('x'), false);
  refuses(() => read('true').boolean('x'), 'T.x is not true or false');
  assert.equal(read(3).integer('x', 1), 3);
  for (const value of [1.5, '3', true]) refuses(() => read(value).integer('x'), 'T.x is not a FHIR integer');
  for (const value of [0, 2 ** 31])
    refuses(() => read(value).integer('x', 1), 'T.x is too large or too small for its type');
  assert.equal(read('aGVs bG8=').base64('x'), 'aGVsbG8=');
  for (const value of ['abc', 'a===', 'ab!=']) refuses(() => read(value).base64('x'), 'T.x is not base64');
  assert.equal(read(undefined).string('x'), undefined);
  refuses(() => read('x').child('x'), 'T.x is not an object');
  refuses(() => read([['a']]).children('x'), 'T.x is not an object');
});

test('dates and date-times as R4 writes them, on days that exist', () => {
  for (const date of ['2024', '2024-02', '2024-02-29']) assert.equal(read(date).date('x'), date);
  for (const date of [
    '2024-02-30',
    '24-01-01',
    '2024-13',
    '2024-1-1',
    '0000',
    '2024-02-29T10:00:00Z',
    'today',
  ])
    assert.throws(() => read(date).date('x'), /^ResourceRejected: T\.x is not a FHIR date(,|$)/, date);
  for (const time of ['2024-02-29T23:59:59Z', '2024-02-29T00:00:00.123456+14:00'])
    assert.equal(read(time).dateTime('x')?.text, time);
  for (const time of [
    '2024-02-29T10:00Z',
    '2024-02-29T10:00:00',
    '2024-02-29T24:00:00Z',
    '2024-02-29 10:00:00Z',
  ])
    assert.throws(() => read(time).dateTime('x'), ResourceRejected, time);
  refuses(() => read('2024-01-01').dateTime('x', 'time'), 'T.x is not a FHIR instant');
  refuses(
    () => read('today').dateTime('x', 'time'),
    'T.x is not a FHIR instant, or that day or time does not exist',
  );
  refuses(
    () => read('today').dateTime('x'),
    'T.x is not a FHIR dateTime, or that day or time does not exist',
  );
});

test('decimals keep their digits [HTTP-29]', () => {
  const reader = new ElementReader(parseFhirJson('{"x":1.20}') as JsonObject, 'T', 'UTC');
  assert.equal(String(reader.decimal('x')), '1.20');
  refuses(() => read('1.2').decimal('x'), 'T.x is not a number');
});

test('elements that nobody reads are named, once for each item, nested ones too [IN-7]', () => {
  const reader = ElementReader.of(
    {
      resourceType: 'Patient',
      id: '1',
      active: true,
      _birthDate: {},
      extension: [{}, {}],
      name: [{ family: 'A', _family: {} }, { text: 'B' }],
    },
    'UTC',
  );
  reader.boolean('active');
  for (const name of reader.children('name')) name.string('family');
  assert.deepEqual(reader.unread(), [
    'Patient._birthDate',
    'Patient.extension',
    'Patient.extension',
    'Patient.name._family',
    'Patient.name.text',
  ]);
});

test('a choice is given in one type', () => {
  assert.equal(new ElementReader({ valueString: 'a', values: 1 }, 'T', 'UTC').choice('value'), 'valueString');
  assert.equal(new ElementReader({ valued: 1 }, 'T', 'UTC').choice('value'), undefined);
  refuses(
    () => new ElementReader({ valueString: 'a', valueInteger: 1 }, 'T', 'UTC').choice('value'),
    'T.value[x] is given with more than one type',
  );
});

test('data types keep what is known, in one order, and nothing empty', () => {
  const of = (source: JsonObject) => new ElementReader(source, 'T', 'UTC');
  assert.deepEqual(
    Object.keys(codeableConcept(of({ text: 't', coding: [{ code: 'c', system: 's' }] })) ?? {}),
    ['coding', 'text'],
  );
  assert.equal(codeableConcept(of({ extension: [{}] })), undefined);
  assert.deepEqual(
    readIdentifier(of({ value: 'v', system: 's', use: 'old', period: { start: '2020' }, assigner: {} })),
    {
      use: 'old',
      system: 's',
      value: 'v',
      period: { start: '2020' },
    },
  );
  assert.deepEqual(address(of({ line: ['1', '2'], country: 'NG' })), { line: ['1', '2'], country: 'NG' });
  refuses(() => contactPoint(of({ value: '1' })), 'T.system is missing, but a value is given');
  assert.deepEqual(contactPoint(of({ system: 'phone', value: '1', rank: 2 })), {
    system: 'phone',
    value: '1',
    rank: 2,
  });
});

test('a day that ends a period is a day of the facility', () => {
  const of = (start: string, end: string, timeZone: string) =>
    period(new ElementReader({ start, end }, 'T.period', timeZone));
  // At 23:30 in UTC it is the next day in Lagos, and still the day before in New York.
  const start = '2024-01-01T23:30:00Z';
  assert.deepEqual(of(start, '2024-01-01', 'America/New_York'), { start, end: '2024-01-01' });
  refuses(() => of(start, '2024-01-01', 'Africa/Lagos'), 'T.period ends before it starts');
  const late = '2024-01-02T03:00:00Z';
  assert.deepEqual(of(late, '2024-01-01', 'America/New_York'), { start: late, end: '2024-01-01' });
  refuses(() => of(late, '2024-01-01', 'UTC'), 'T.period ends before it starts');
});

test('a period ends no earlier than it starts, at the precision that it is written in', () => {
  const of = (start: string, end: string) => period(new ElementReader({ start, end }, 'T.period', 'UTC'));
  for (const [start, end] of [
    ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00Z'],
    ['2024-01-01T10:00:00Z', '2024-01-01'],
    ['2024-01-01T10:00:00+02:00', '2024-01-01T09:00:00Z'],
    ['2024', '2024-01'],
  ] as const)
    assert.deepEqual(of(start, end), { start, end });
  for (const [start, end] of [
    ['2024-01-01T10:00:00Z', '2024-01-01T09:59:59Z'],
    ['2024-01-02', '2024-01-01'],
    ['2024-01-01T10:00:00Z', '2024-01-01T11:00:00+02:00'],
  ] as const)
    refuses(() => of(start, end), 'T.period ends before it starts');
});
