/** SQL of how much waits, by connection, counted exactly: reads every head of a lane, never the history. */
import type { Queryable } from '../../platform/db/database.ts';

export interface QueueState {
  connectionId: string;
  organisationId: string;
  queued: number;
  held: number;
  oldestSeconds: number;
  breakerOpen: boolean;
}

/** Of heads `h`: what waits, what is held, and since when the first has waited. Behind a held head the rest waits. */
export const COUNTS = `
  coalesce(sum(h.last_sequence - h.sequence + case when h.held_at is null then 1 else 0 end), 0)::bigint as queued,
  count(h.held_at) as held,
  min(h.queued_at) filter (where h.held_at is null) as oldest_queued_at`;

/** Of every connection, or of one organisation's. */
export async function queueStates(db: Queryable, organisationId?: string): Promise<QueueState[]> {
  const { rows } = await db.query<{
    id: string;
    organisation_id: string;
    queued: number;
    held: number;
    oldest_seconds: number;
    breaker_open: boolean;
  }>({
    name: 'exchange-queue-states',
    text: `
      select c.organisation_id, c.id, k.opened_at is not null as breaker_open, n.queued, n.held,
        coalesce(extract(epoch from now() - n.oldest_queued_at), 0)::double precision as oldest_seconds
      from exchange_connection c
      join exchange_circuit k
        on k.organisation_id = c.organisation_id
        and k.connection_id = c.id
      cross join lateral (
        select ${COUNTS}
        from exchange_head h
        where h.organisation_id = c.organisation_id
          and h.connection_id = c.id
      ) n
      where $1::uuid is null
        or c.organisation_id = $1`,
    values: [organisationId],
  });
  return rows.map((row) => ({
    organisationId: row.organisation_id,
    connectionId: row.id,
    queued: row.queued,
    held: row.held,
    oldestSeconds: Math.max(0, row.oldest_seconds),
    breakerOpen: row.breaker_open,
  }));
}
