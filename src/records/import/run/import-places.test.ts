import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createImportPlaces } from './import-places.ts';

const placesWith = (waitMs: number) =>
  createImportPlaces({ waitMs, busy: (isOfOrganisation) => new Error(isOfOrganisation ? 'own' : 'others') });

test('an organisation has one place, which is given in the order of the calls', async () => {
  const places = placesWith(60_000);
  const order: string[] = [];
  const leaveFirst = await places.take('a');
  const second = places.take('a').then((leave) => {
    order.push('second');
    return leave;
  });
  const third = places.take('a').then(() => order.push('third'));
  await places.free('b');
  leaveFirst();
  (await second)();
  await third;
  assert.deepEqual(order, ['second', 'third']);
});

test('four organisations have a place at once; who gets none in time is told so, and takes none later', async () => {
  const places = placesWith(1);
  const [leave = assert.fail(), ...others] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((id) => places.take(id)),
  );
  const isBusy = { message: 'others' };
  await assert.rejects(places.take('e'), isBusy);
  await assert.rejects(places.free('e'), isBusy);
  await assert.rejects(places.take('a'), { message: 'own' });
  leave();
  const again = await places.take('a');
  for (const end of [again, ...others]) end();
  await places.free('e');
});
