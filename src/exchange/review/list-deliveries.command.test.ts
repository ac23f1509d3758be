import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELIVERY_EXAMPLE, deliveryView } from './delivery.schema.ts';
import { deliveryLine } from './list-deliveries.command.ts';

test('a confirmation that is hidden is not told as none [EXC-28]', () => {
  const delivery = {
    ...DELIVERY_EXAMPLE,
    status: 'delivered',
    heldReason: null,
    lastAttempt: { startedAt: new Date(0), outcome: 'delivered', status: 202, failure: null },
    occurredAt: new Date(0),
    heldAt: null,
    nextAttemptAt: null,
    confirmation: { status: 'accepted', assignedId: 'NX-1' },
    refusedPurposes: ['OPS'] as string[],
  } as const;
  assert.match(deliveryLine(deliveryView(delivery, true)), /delivered 202, accepted as NX-1$/);
  assert.match(deliveryLine(deliveryView(delivery, false)), /delivered 202, confirmation not shown$/);
  const waiting = { ...delivery, confirmation: null };
  assert.match(deliveryLine(deliveryView(waiting, true)), /delivered 202, not confirmed$/);
});
