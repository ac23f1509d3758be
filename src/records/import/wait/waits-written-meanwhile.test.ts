/** What another import writes meanwhile waits for what it misses, whatever an import found before. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callDuring } from '../../../../test-support/call-during.ts';
import { bundle, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';

const t = await useImportTest();

const to = (type: string, id: unknown) => ({ reference: `${type}/${id}` });

for (const [what, missed] of [
  ['misses another record', { basedOn: [to('ServiceRequest', 'none')] }],
  ['misses nothing', {}],
] as const)
  test(`a result that ${what}, comes again, and is written anew meanwhile: what the new one misses is joined [IN-37]`, async () => {
    const person = patient();
    const of = (resourceType: string, more: object) => ({
      resourceType,
      id: randomUUID(),
      subject: to('Patient', person.id),
      ...more,
    });
    const order = of('ServiceRequest', { status: 'active', intent: 'order' });
    const result = (status: string, more: object = {}) =>
      of('Observation', { status, code: { text: 'Sodium' }, valueString: 'high', ...more });
    const [old, other] = [result('preliminary', missed), result('preliminary')];
    await t.run([bundle([person, old, other], 'collection')]);
    const again = await callDuring(t.database.pool, {
      change: (client) =>
        client.query('select from observation where organisation_id = $1 and id = $2 for update', [
          t.scope.organisationId,
          other.id,
        ]),
      // It has found the old result unchanged, and waits for the other one.
      call: () => t.run([bundle([old, { ...other, status: 'final' }], 'collection')]),
      meanwhile: async () => {
        const anew = { ...old, status: 'final', basedOn: [to('ServiceRequest', order.id)] };
        assert.deepEqual((await t.run([anew])).rejected, []);
      },
    });
    assert.deepEqual(again.rejected, []);
    await t.run([order]);
    assert.deepEqual(await t.rows('select status, based_on_id from observation where id = $1', [old.id]), [
      { status: 'final', based_on_id: order.id },
    ]);
    assert.deepEqual(await t.rows('select from waiting_record'), []);
  });

test('a wait that cannot be joined ends, and not the one of what another import writes at that moment [IN-37]', async () => {
  const [person, someoneElse] = [patient(), patient()];
  await t.run([bundle([person, someoneElse], 'collection')]);
  const orderOf = ({ id }: Resource) => ({
    resourceType: 'ServiceRequest',
    id: randomUUID(),
    status: 'active',
    intent: 'order',
    subject: to('Patient', id),
  });
  const joined: boolean[] = [];
  const isWritten: boolean[] = [];
  // Each of the first transactions of the import begins once after the other import.
  for (let place = 1; place <= 6; place += 1) {
    const [right, wrong] = [orderOf(person), orderOf(someoneElse)];
    const result = {
      resourceType: 'Observation',
      id: randomUUID(),
      status: 'preliminary',
      code: { text: 'Sodium' },
      valueString: 'high',
      subject: to('Patient', person.id),
      basedOn: [to('ServiceRequest', wrong.id)],
    };
    await t.run([result]);
    const meanwhile = () =>
      t.run([{ ...result, status: 'final', basedOn: [to('ServiceRequest', right.id)] }]);
    let begun = 0;
    const db = new Proxy(t.database.pool, {
      get(pool, name) {
        const value = Reflect.get(pool, name, pool);
        if (name !== 'connect') return typeof value === 'function' ? value.bind(pool) : value;
        return async () => {
          begun += 1;
          if (begun === place) await meanwhile();
          return pool.connect();
        };
      },
    });
    await t.run([wrong], { deps: { db } });
    isWritten.push(begun >= place);
    await t.run([right]);
    const [row] = await t.rows('select based_on_id from observation where id = $1', [result.id]);
    joined.push(row?.based_on_id === right.id);
  }
  assert.ok(isWritten.filter((one) => one).length > 3, 'there are so many moments');
  assert.deepEqual(joined, isWritten);
});
