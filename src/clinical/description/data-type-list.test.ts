import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADDRESS, dataTypeList } from './data-type-list.ts';
import { R4_ELEMENTS } from './r4-elements.ts';

const LIST = dataTypeList(ADDRESS, { table: 'place', parent: 'record_id', alias: 'a', member: 'places' });

test('an item is selected in the order of the FHIR page: deliveries are told apart by their text', () => {
  const [field] = LIST.fields({ alias: 'r', reach: 'organisation', id: 'id' });
  const names = [...String(field?.sql).matchAll(/'(\w+)', /g)].map(([, name]) => name);
  assert.deepEqual(
    names,
    R4_ELEMENTS.Address.split(' ').filter((name) => name !== 'period'),
  );
});

test('columns stay in their order: imports are told apart by it', () => {
  const columns = LIST.tables?.flatMap((table) => table.columns.map(([name]) => name));
  assert.deepEqual(columns?.slice(-3), ['state', 'country', 'postal_code']);
});
