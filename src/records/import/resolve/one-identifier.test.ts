/** What an import finds where very many records carry one identifier, as sources give it by mistake. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, identifierOf, patient } from '../../../../test-support/records/clinic.ts';
import { lines, useImportTest } from '../../../../test-support/records/import.ts';
import { IMPORTERS } from '../map/importers.ts';

const t = await useImportTest();

const MANY = 150;
const identifier = { system: 'urn:lab', value: 'none' };
const order = (more: object) => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  code: { text: 'Test' },
  ...more,
});

test('an identifier is looked for once and leads to a bounded number of records, however many carry it [IN-53]', async () => {
  const someone = patient();
  const subject = { reference: `Patient/${someone.id}` };
  const orders = Array.from({ length: MANY }, (_, index) =>
    order({ id: `order-${index}`, subject, identifier: [identifier, identifier] }),
  );
  assert.equal((await t.run([lines([someone, ...orders])])).rejectedCount, 0);

  const lookup = IMPORTERS.get('ServiceRequest')?.lookup;
  const other = { system: 'urn:lab', value: 'nobody has it' };
  const asked = Array.from({ length: 20 }, () => [identifier, other]).flat();
  const found = await lookup?.byIdentifier(t.database.pool, t.scope, asked, 'facility');
  assert.equal(found?.length, 100);
  assert.equal(new Set(found?.map(({ id }) => id)).size, 100);

  const request = { method: 'POST', url: 'ServiceRequest', ifNoneExist: 'identifier=urn:lab|none' };
  const created = ['a', 'b', 'c'].map((text) => ({ resource: order({ subject, code: { text } }), request }));
  const { rejected } = await t.run([{ ...bundle([]), entry: created }]);
  assert.deepEqual(
    rejected.map(({ entry, reason }) => [entry, reason]),
    [1, 2, 3].map((entry) => [
      entry,
      'Several records match the condition of this entry, but it must match one',
    ]),
  );
});

test('patients of one identifier are found once each [IN-9]', async () => {
  const someone = patient();
  const key = { system: 'urn:clinic', value: 'both' };
  const both = { ...someone, identifier: [identifierOf(someone), key, { ...key, use: 'old' }] };
  assert.equal((await t.run([both])).rejectedCount, 0);
  const found = await IMPORTERS.get('Patient')?.lookup.byIdentifier(
    t.database.pool,
    t.scope,
    [key, key],
    'organisation',
  );
  assert.deepEqual(found, [{ id: someone.id, ...key }]);
});
