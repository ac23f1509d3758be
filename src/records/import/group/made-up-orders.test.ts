/** What a made-up order of results says follows from the results alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StandingResult } from '../../../investigations/result-grouping.store.ts';
import { gatheredId } from './assign-orders.ts';
import { gatheredOrders } from './made-up-orders.ts';

const [FIRST, SECOND] = ['8e000000-0000-4000-8000-000000000001', '8e000000-0000-4000-8000-000000000002'];

function panel(id: string, memberIds: string[], status: string): StandingResult {
  return {
    ...{ id, memberIds, status, code: { text: status }, orderId: null, basedOnId: null },
    ...{ facilityId: 'facility', patientId: 'patient', encounterId: null, specimenId: null },
    effectiveAt: '1710064800.000000',
  };
}

test('of panels that are members of each other, the one with the lowest id counts, whichever is read first [IN-16, IN-52]', () => {
  const panels = [panel(FIRST, [SECOND], 'final'), panel(SECOND, [FIRST, SECOND], 'preliminary')];
  const ordersOf = (results: StandingResult[]) =>
    gatheredOrders(new Map([[gatheredId(panel(FIRST, [], 'final')), results]]));
  const [order] = ordersOf(panels);
  assert.deepEqual([order?.status, order?.code], ['completed', { text: 'final' }]);
  assert.deepEqual(ordersOf(panels.toReversed()), [order]);
});
