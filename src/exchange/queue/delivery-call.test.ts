import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { transaction } from '../../platform/db/database.ts';
import { callWorkers, DELIVERY_CHANNEL } from './delivery-call.ts';

const database = await useTestDatabase();
const listener = await database.connectOwner();
const called: (string | undefined)[] = [];
await listener.query(`listen ${DELIVERY_CHANNEL}`);
listener.on('notification', ({ payload }) => called.push(payload));

describe('calling the workers', () => {
  const times = (organisationId: string) => called.filter((one) => one === organisationId).length;
  const isCalled = (organisationId: string) => waitUntil(() => times(organisationId) > 0, 'it is called');

  test('comes once the change is committed, and not when it is rolled back [EXC-55]', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()];
    const failure = new Error('undone');
    await assert.rejects(
      transaction(database.pool, async (client) => {
        callWorkers(client, undone);
        throw failure;
      }),
      failure,
    );
    await transaction(database.pool, async (client) => {
      callWorkers(client, kept);
      // What is called meanwhile comes first: nothing was called inside the transaction.
      const other = randomUUID();
      await transaction(database.pool, async (another) => callWorkers(another, other));
      await isCalled(other);
      assert.equal(times(kept), 0);
    });
    await isCalled(kept);
    assert.equal(times(undone), 0);
  });

  test('comes seldom for many changes at once, and again after the last of them [EXC-55]', async () => {
    const organisationId = randomUUID();
    const last = randomUUID();
    for (let count = 0; count < 100; count += 1)
      await transaction(database.pool, async (client) => callWorkers(client, organisationId));
    const before = times(organisationId);
    assert.ok(before < 100, `${before} calls for 100 changes`);
    await transaction(database.pool, async (client) => callWorkers(client, organisationId));
    await waitUntil(() => times(organisationId) > before, 'it is called again');
    await transaction(database.pool, async (client) => callWorkers(client, last));
    await isCalled(last);
  });
});
