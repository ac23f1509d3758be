/** What is looked at again when one part of an order changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lines, useImportTest } from '../../test-support/records/import.ts';
import { partsSharingOrders } from './result-grouping.store.ts';

const t = await useImportTest();

const basedOn = (id: string) => [{ reference: `ServiceRequest/${id}` }];
const part = (resourceType: string, id: string, more: object) => ({
  resourceType,
  id,
  status: 'final',
  code: { text: 'Test' },
  subject: { reference: 'Patient/p' },
  ...more,
});
const order = (id: string) => part('ServiceRequest', id, { status: 'active', intent: 'order' });
const result = (id: string) =>
  part('Observation', id, { basedOn: basedOn('s1'), valueString: 'x', code: { text: id } });
const report = (id: string, orderId: string, issued: string, results: readonly string[]) =>
  part('DiagnosticReport', id, {
    issued,
    basedOn: basedOn(orderId),
    result: results.map((one) => ({ reference: `Observation/${one}` })),
  });

test('of the results that name their order, those alone that a report of another order lists', async () => {
  await t.run([
    lines([
      { resourceType: 'Patient', id: 'p' },
      ...[order('s1'), order('s2'), result('a'), result('b'), result('c')],
      ...[
        report('r1', 's1', '2024-05-01T10:00:00Z', ['a', 'b', 'c']),
        report('r2', 's2', '2024-05-02T10:00:00Z', ['b']),
      ],
    ]),
  ]);
  const rows = await t.rows<{ name: string; id: string }>(
    "select code ->> 'text' as name, id from observation",
  );
  const ids = new Map(rows.map(({ name, id }) => [name, id]));
  const { observations, reports, studies } = await partsSharingOrders(
    t.database.pool,
    t.scope,
    { observations: new Set([ids.get('a') ?? '']), reports: new Set(), studies: new Set() },
    10,
  );
  assert.deepEqual([[...observations], reports.size, studies.size], [[ids.get('b')], 0, 0]);
});
