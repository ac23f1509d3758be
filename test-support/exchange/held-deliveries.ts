/** Deliveries that an exchange refused, as the worker leaves them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type ConnectionKey, leaseDue } from '../../src/exchange/queue/lane.store.ts';
import { settle } from '../../src/exchange/queue/settle.store.ts';
import type { TestApi } from '../service/api.ts';
import { connect, insertPatients, type Place, queue } from './exchange-records.ts';

export interface HeldDeliveries {
  connectionId: string;
  patientIds: string[];
}

/** A connection of the place, with one held delivery for each of `count` patients. */
export async function holdDeliveries(
  { database: { pool }, keys }: Pick<TestApi, 'database' | 'keys'>,
  place: Place,
  { count, name = 'National exchange' }: { count: number; name?: string },
): Promise<HeldDeliveries> {
  const { organisationId } = place;
  const { id: connectionId } = await connect({ pool, keys }, place, {
    name,
    address: 'https://exchange.example.org/patients',
    facilityIds: [place.facilityId],
  });
  const patientIds = await insertPatients(pool, place, count);
  await queue(pool, place, patientIds);
  await refuseDue(pool, { organisationId, connectionId }, count);
  return { connectionId, patientIds };
}

/** The exchange answers 422 to each delivery that is due. */
export async function refuseDue(
  pool: TestApi['database']['pool'],
  key: ConnectionKey,
  limit: number,
): Promise<void> {
  const token = randomUUID();
  const leased = await leaseDue(pool, key, { token, durationMs: 60_000, limit });
  assert.equal(leased.length, limit);
  const results = leased.map(({ patientId, sequence }) => ({
    patientId,
    sequence,
    leaseToken: token,
    next: { kind: 'hold' as const, reason: 'refused_422' },
    attempt: {
      nonce: randomUUID(),
      startedAt: new Date(),
      durationMs: 38,
      outcome: 'refused' as const,
      status: 422,
      failure: null,
      responseHash: null,
    },
    counted: true,
  }));
  await settle(pool, key, results);
}
