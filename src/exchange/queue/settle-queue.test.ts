import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitUntil } from '../../../test-support/wait-until.ts';
import type { DeliveryResult } from './settle.store.ts';
import { createSettleQueue, type SettleQueueOptions } from './settle-queue.ts';

const result = (patientId: string): DeliveryResult => ({
  patientId,
  sequence: 1,
  leaseToken: 't',
  next: { kind: 'advance' },
  counted: true,
  attempt: {
    nonce: patientId,
    startedAt: new Date(),
    durationMs: 1,
    outcome: 'delivered',
    status: 200,
    failure: null,
    responseHash: null,
  },
});
/** No test waits so long: what is drained is written before. */
const LONG_MS = 60_000;
const later = () => performance.now() + LONG_MS;
const patients = (batch: DeliveryResult[]) => batch.map(({ patientId }) => patientId);
const allOf = (batch: DeliveryResult[]) => ({ moved: new Set(patients(batch)), more: false });

function queueOf(write: SettleQueueOptions['write'], more: Partial<SettleQueueOptions> = {}) {
  return createSettleQueue({
    write,
    onMore: () => undefined,
    onLost: () => undefined,
    onError: () => undefined,
    ...more,
  });
}

describe('settle queue', () => {
  test('writes together what came while it was writing', async () => {
    const batches: string[][] = [];
    const first = Promise.withResolvers<void>();
    const queue = queueOf(async (batch) => {
      batches.push(patients(batch));
      await first.promise;
      return allOf(batch);
    });
    queue.add(result('a'), later());
    queue.add(result('b'), later());
    await waitUntil(() => batches.length === 1, 'the first two are being written');
    for (const id of ['c', 'd', 'e']) queue.add(result(id), later());
    first.resolve();
    await queue.drain(LONG_MS);
    assert.deepEqual(batches, [
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
  });

  test('comes back for what was locked, without a second line in the ledger', async () => {
    const seen: [string, boolean][] = [];
    let tries = 0;
    const queue = queueOf(async (batch) => {
      tries += 1;
      for (const one of batch) seen.push([one.patientId, one.attempt !== null]);
      return { moved: new Set(patients(batch).filter((id) => id !== 'locked' || tries > 2)), more: true };
    });
    queue.add(result('locked'), later());
    queue.add(result('free'), later());
    await queue.drain(LONG_MS);
    assert.deepEqual(seen, [
      ['locked', true],
      ['free', true],
      ['locked', false],
      ['locked', false],
    ]);
  });

  test('gives up what is not moved once its lease has ended', async () => {
    let lost = 0;
    const queue = queueOf(async () => ({ moved: new Set<string>(), more: false }), {
      onLost: (count) => {
        lost += count;
      },
    });
    queue.add(result('a'), performance.now() - 1);
    queue.add(result('b'), performance.now() + 50);
    await queue.drain(LONG_MS);
    assert.equal(lost, 2);
    assert.equal(queue.size, 0);
  });

  test('keeps everything while the database is away', async () => {
    let fails = 2;
    const written: string[] = [];
    const errors: unknown[] = [];
    const queue = queueOf(
      async (batch) => {
        fails -= 1;
        if (fails >= 0) throw new Error('away');
        written.push(...patients(batch));
        return allOf(batch);
      },
      { onError: (error) => errors.push(error) },
    );
    queue.add(result('a'), later());
    queue.add(result('b'), later());
    await queue.drain(LONG_MS);
    assert.deepEqual(written, ['a', 'b']);
    assert.equal(errors.length, 1, 'told once');
  });

  test('does not wait for ever when it is to end', async () => {
    const queue = queueOf(() => Promise.reject(new Error('away')));
    queue.add(result('a'), later());
    await queue.drain(100);
    assert.equal(queue.size, 1, 'what could not be written is left');
  });
});
