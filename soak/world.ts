/** What all flows share: the service from outside, its surroundings, and the ledger. */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Behaviour,
  type Arrival as Received,
  startExchange,
} from '../test-support/exchange/exchange-server.ts';
import { startFhirServer, type TestFhirServer } from '../test-support/fhir-server/start.ts';
import type { Client } from './client.ts';
import type { Ledger } from './ledger.ts';
import { createRandom, type Random } from './random.ts';
import { contentOf, type SourcePatient } from './records.ts';

/** A patient with the ids that the service gave. */
export interface KnownPatient extends SourcePatient {
  id: string;
  encounterId: string;
  labOrderId: string;
  imagingOrderId: string;
  vitalSetId: string;
}

export interface World {
  client: Client;
  ledger: Ledger;
  patients: readonly KnownPatient[];
  connectionId: string;
  callbackSecret: string;
  fhirServer: TestFhirServer;
  /** Deliveries that the exchange took and has not confirmed. */
  unconfirmed: { deliveryId: string; patient: number }[];
  random(name: string): Random;
  /** True once the flows are to end. */
  stopping: boolean;
  /** True once the surroundings are to make no more faults. */
  calm: boolean;
}

/** The exchange and the FHIR server, which fail now and then. */
export async function startSurroundings(world: Pick<World, 'ledger' | 'calm' | 'unconfirmed'>, seed: number) {
  const [exchange, fhirServer] = await Promise.all([startExchange(), startFhirServer('--no-integrity')]);
  const random = createRandom(seed, 'exchange');
  exchange.behave = (received) => {
    // Kept in the ledger: what is held here twice is memory that is not the service's.
    exchange.arrivals.length = 0;
    const behaviour = world.calm ? { status: 200 } : behaviourOf(random);
    note(world, received, behaviour);
    return behaviour;
  };
  return { exchange, fhirServer };
}

function behaviourOf(random: Random): Behaviour {
  const chance = random.next();
  const delayMs = random.next() < 0.2 ? random.between(1, 150) : 0;
  if (chance < 0.04) return 'drop';
  if (chance < 0.09) return { status: random.pick([500, 502, 503]), delayMs };
  if (chance < 0.11) return { status: 429, headers: { 'retry-after': '1' } };
  return { status: 200, delayMs };
}

function note(
  { ledger, unconfirmed }: Pick<World, 'ledger' | 'unconfirmed'>,
  { envelope, headers, verdict }: Received,
  behaviour: Behaviour,
): void {
  const { deliveryId, sequence } = envelope;
  const { patient, round } = contentOf(envelope.resource);
  const nonce = String(headers['x-correlation-id']);
  ledger.arrivals.push({ deliveryId, patient, round, sequence, nonce, signed: verdict === 'valid' });
  if (behaviour === 'drop' || behaviour.status !== 200 || (behaviour.delayMs ?? 0) > 0) ledger.provoked += 1;
  const isTaken = behaviour !== 'drop' && behaviour.status === 200;
  if (isTaken && !ledger.confirmed.has(deliveryId)) unconfirmed.push({ deliveryId, patient });
}

/** A pause between two calls of a flow. It is what makes this a soak and not a benchmark. */
export function pause(random: Random, meanMs: number): Promise<void> {
  return sleep(random.between(1, 2 * meanMs));
}

/** The headers of a signed callback. */
export function signed(body: string, secret: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { 'content-type': 'application/json', 'x-signature': signature };
}
