/** What the compiler and the descriptions hold: no element is forgotten, misspelt, or said twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emitContext } from '../content/coded-content.ts';
import { describeResource, resourceObject } from './describe.ts';
import { onlyStored } from './element.ts';
import { concepts, integer, string } from './kinds.ts';
import { list } from './list.ts';

const CONTEXT = emitContext('organisation', new Map());
const REST = {
  identifier: 'tried',
  active: 'tried',
  type: 'tried',
  alias: 'tried',
  telecom: 'tried',
  address: 'tried',
  partOf: 'tried',
  contact: 'tried',
  endpoint: 'tried',
};
const table = { table: 'tried', reach: 'organisation' } as const;

test('an element that is neither described nor named as not kept does not compile', () => {
  describeResource('Organization', { ...table, elements: { name: string('name') }, notKept: REST });
  const { contact: _contact, ...fewer } = REST;
  // @ts-expect-error: `contact` is forgotten.
  describeResource('Organization', { ...table, elements: { name: string('name') }, notKept: fewer });
  const part = { table: 'tried', parent: 'p', alias: 'l', member: 'm', elements: {} } as const;
  const rest = { status: 'tried', physicalType: 'tried', period: 'tried' };
  // @ts-expect-error: `location` is forgotten, of a part that has a table of its own.
  list('Encounter.location', { ...part, notKept: rest });
});

test('an element that R4 does not have does not compile', () => {
  const elements = { name: string('name'), nickname: string('nickname') };
  // @ts-expect-error: an Organization has no `nickname`.
  describeResource('Organization', { ...table, elements, notKept: REST });
  const derived = { name: string('name'), nickname: onlyStored('nickname', 'text', () => 'n') };
  describeResource('Organization', { ...table, elements: derived, notKept: REST });
});

const { type: _type, ...withoutType } = REST;
const TRIED = describeResource('Organization', {
  ...table,
  elements: { type: concepts('type'), name: string('name') },
  notKept: withoutType,
});

test('a record is written in the order of the FHIR page', () => {
  const record = { id: 'i', name: 'Ward "3"', type: [{ text: '1.20', coding: [{ code: 'a' }] }] };
  assert.equal(
    JSON.stringify(resourceObject(TRIED, record, CONTEXT)),
    '{"resourceType":"Organization","id":"i","type":[{"text":"1.20","coding":[{"code":"a"}]}],"name":"Ward \\"3\\""}',
  );
});

test('what says nothing is left out', () => {
  const record = { id: 'i', name: '', type: [] };
  assert.deepEqual(resourceObject(TRIED, record, CONTEXT), { resourceType: 'Organization', id: 'i' });
});

test('a record has the members that the columns are named after', () => {
  assert.deepEqual(
    TRIED.fields('r').map(({ name, sql }) => `${name}: ${sql}`),
    ['id: r.id', 'type: r.type', 'name: r.name'],
  );
  assert.deepEqual(integer('number_of_series').fields({ alias: 's', reach: 'facility', id: 'id' }), [
    { name: 'numberOfSeries', sql: 's.number_of_series' },
  ]);
});
