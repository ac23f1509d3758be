/** What another import writes meanwhile waits for what it misses, whatever an import found before. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { bundle, patient } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { waitForLock } from '../../../../test-support/wait-until.ts';

const t = useImportTest();

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
    const holder = await t.database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from observation where organisation_id = $1 and id = $2 for update', [
        t.scope.organisationId,
        other.id,
      ]);
      // It has found the old result unchanged, and waits for the other one.
      const again = t.run([bundle([old, { ...other, status: 'final' }], 'collection')]);
      await waitForLock(t.database.pool);
      const anew = { ...old, status: 'final', basedOn: [to('ServiceRequest', order.id)] };
      assert.deepEqual((await t.run([anew])).rejected, []);
      await holder.query('commit');
      assert.deepEqual((await again).rejected, []);
    } finally {
      holder.release();
    }
    await t.run([order]);
    assert.deepEqual(await t.rows('select status, based_on_id from observation where id = $1', [old.id]), [
      { status: 'final', based_on_id: order.id },
    ]);
    assert.deepEqual(await t.rows('select from waiting_record'), []);
  });
