/** What comes again: an order with the same content keeps what its results decided, and a change is of its own record alone. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { callDuring } from '../../../../test-support/call-during.ts';
import { bundle, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { waitForLocks } from '../../../../test-support/wait-until.ts';

let person: Resource;

const t = await useImportTest();
beforeEach(() => {
  person = patient();
});

/** An order that does not say what it is, and its result. */
function records(versionId: string, note = 'first'): Resource {
  const subject = { reference: `Patient/${person.id}` };
  const meta = { versionId };
  const order = {
    resourceType: 'ServiceRequest',
    id: `order-${person.id}`,
    status: 'active',
    intent: 'order',
    code: { text: note },
    subject,
    meta,
  };
  const result = {
    resourceType: 'Observation',
    id: `result-${person.id}`,
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
        ],
      },
    ],
    code: { text: 'Sodium' },
    effectiveDateTime: '2024-03-01T10:00:00Z',
    valueString: note,
    basedOn: [{ reference: `ServiceRequest/${order.id}` }],
    subject,
    meta,
  };
  return bundle([person, order, result], 'collection');
}

async function order() {
  const [row] = await t.rows(
    "select discipline, sort_at, code ->> 'text' as note from investigation_order where patient_id = $1",
    [person.id],
  );
  return row;
}

const decided = (note: string) => ({
  discipline: 'laboratory',
  sort_at: new Date('2024-03-01T10:00:00Z'),
  note,
});

test('under a newer version of its source [IN-34]', async () => {
  for (const version of ['1', '2', '3']) {
    assert.deepEqual((await t.run([records(version)])).rejected, []);
    assert.deepEqual(await order(), decided('first'));
  }
});

test('in two imports at once, of which one finds it written by the other [IN-15]', async () => {
  await t.run([records('1')]);
  const { pool } = t.database;
  const imports = await callDuring(pool, {
    change: (client) => client.query('lock table investigation_order in share row exclusive mode'),
    call: () => Promise.all([1, 2].map(() => t.run([records('2', 'second')]))),
    waits: () => waitForLocks(pool, 2),
  });
  for (const { rejected } of imports) assert.deepEqual(rejected, []);
  assert.deepEqual(await order(), decided('second'));
});

test('a change of one record leaves the identifiers of another type under the same id', async () => {
  const id = randomUUID();
  const named = (resourceType: string, value: string): Resource => ({
    resourceType,
    id,
    identifier: [{ system: 'urn:licences', value }],
  });
  await t.run([named('Practitioner', 'one'), named('Organization', 'other')]);
  await t.run([named('Practitioner', 'two')]);
  const found = await t.rows<{ resource_type: string; value: string }>(
    'select resource_type, value from directory_identifier where record_id = $1 order by resource_type',
    [id],
  );
  const values = found.map((row) => [row.resource_type, row.value]);
  assert.deepEqual(values, [
    ['Organization', 'other'],
    ['Practitioner', 'two'],
  ]);
});
