/** SQL of the breaker of a connection, shared by all workers. Contract: EXC-21. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';

/** Open the breaker; false when another worker had opened it already. */
export async function openBreaker(db: Queryable, key: ConnectionKey, probeAfterMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'exchange-circuit-open',
    text: `
      update exchange_circuit
      set opened_at = now(),
          probe_at = now() + $3::integer * interval '1 millisecond',
          failed_probes = 0
      where organisation_id = $1
        and connection_id = $2
        and opened_at is null`,
    values: [key.organisationId, key.connectionId, probeAfterMs],
  });
  return rowCount === 1;
}

/** Close the breaker: the exchange answers again. */
export async function closeBreaker(db: Queryable, key: ConnectionKey): Promise<void> {
  await db.query({
    name: 'exchange-circuit-close',
    text: `
      update exchange_circuit
      set opened_at = null,
          probe_at = '-infinity',
          failed_probes = 0
      where organisation_id = $1
        and connection_id = $2
        and opened_at is not null`,
    values: [key.organisationId, key.connectionId],
  });
}

/**
 * Note a probe that failed: the next comes after `afterMs`, doubled for each failure before, up to `maxMs`; or after
 * `restMs`, when that is later.
 */
export async function delayProbe(
  db: Queryable,
  key: ConnectionKey,
  delay: { afterMs: number; maxMs: number; restMs: number },
): Promise<void> {
  await db.query({
    name: 'exchange-circuit-delay',
    text: `
      with next as materialized (
        select now()
          + greatest(least($3::double precision * power(2, least(failed_probes + 1, 20)), $4), $5)
            * interval '1 millisecond' as probe_at
        from exchange_circuit
        where organisation_id = $1
          and connection_id = $2
          and opened_at is not null
      )
      update exchange_circuit k
      set failed_probes = k.failed_probes + 1,
          probe_at = n.probe_at
      from next n
      where k.organisation_id = $1
        and k.connection_id = $2
        and k.opened_at is not null`,
    values: [key.organisationId, key.connectionId, delay.afterMs, delay.maxMs, delay.restMs],
  });
}
