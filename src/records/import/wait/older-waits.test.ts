/** What an older version misses does not replace what the newer one with the same content waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';

const t = await useImportTest();

const ORDER = 'order';

/** Without its order, what both versions store is the display alone. */
function result(person: Resource, versionId: string, based: object): Resource {
  return {
    resourceType: 'Observation',
    id: `result-${person.id}`,
    meta: { versionId },
    status: 'final',
    code: { text: 'Sodium' },
    valueString: 'high',
    subject: { reference: `Patient/${person.id}` },
    basedOn: [{ ...based, display: 'The order' }],
  };
}

function order(person: Resource): Resource {
  return {
    resourceType: 'ServiceRequest',
    id: `${ORDER}-${person.id}`,
    status: 'active',
    intent: 'order',
    subject: { reference: `Patient/${person.id}` },
  };
}

for (const [name, basedOn] of [
  ['refers to the same', (person: Resource) => ({ reference: `ServiceRequest/${ORDER}-${person.id}` })],
  ['refers to another one', () => ({ reference: 'ServiceRequest/none' })],
  ['only names it', () => ({})],
] as const)
  test(`an older version that ${name} [IN-34, IN-37]`, async () => {
    const person = patient();
    const named = { reference: `ServiceRequest/${ORDER}-${person.id}` };
    await t.run([bundle([person], 'collection')]);
    for (const one of [result(person, '2', named), result(person, '1', basedOn(person)), order(person)])
      assert.deepEqual((await t.run([one])).rejected, []);
    const rows = await t.rows(
      `select (o.based_on_id = r.id) is true as joined
       from observation o
       join investigation_order r on r.patient_id = o.patient_id and not r.made_up
       where o.patient_id = $1`,
      [person.id],
    );
    assert.deepEqual(rows, [{ joined: true }]);
    assert.deepEqual(await t.rows('select id from waiting_record'), []);
  });
