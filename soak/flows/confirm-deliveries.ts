/** The exchange confirms the deliveries that it took, each until the callback is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signed, type World } from '../world.ts';

/** The id that the exchange gives a patient: always the same one. */
export function assignedId(patient: number): string {
  return `EXCHANGE-${patient}`;
}

/** Goes on until the flows have ended and nothing is left to confirm. */
export async function confirmDeliveries(world: World): Promise<void> {
  const { client, ledger, unconfirmed, connectionId, callbackSecret } = world;
  for (;;) {
    const next = unconfirmed.shift();
    if (next === undefined) {
      if (world.stopping) return;
      await sleep(20);
      continue;
    }
    const { deliveryId, patient } = next;
    if (ledger.confirmed.has(deliveryId)) continue;
    const body = JSON.stringify({ deliveryId, status: 'accepted', assignedId: assignedId(patient) });
    await client.insist('callbacks', `/exchange/connections/${connectionId}/callback`, {
      headers: signed(body, callbackSecret),
      body,
    });
    ledger.confirmed.set(deliveryId, patient);
  }
}
