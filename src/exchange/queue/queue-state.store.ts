/** SQL of how much waits, by connection, counted exactly: reads every head of a lane, never the history. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface QueueState {
  connectionId: string;
  organisationId: string;
  queued: number;
  held: number;
  oldestSeconds: number;
  breakerOpen: boolean;
}

/**
 * Of every connection of an organisation. Behind a held head the rest waits. Nothing is late at a connection that is disabled,
 * and its exchange is asked for nothing.
 */
export async function queueStates(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<QueueState[]> {
  const { rows } = await db.query<QueueState>({
    name: 'exchange-queue-states',
    text: `
      select c.organisation_id as "organisationId", c.id as "connectionId", n.queued, n.held,
        case
          when c.disabled_at is null then greatest(0, extract(epoch from now() - n.oldest_queued_at))
          else 0
        end::double precision as "oldestSeconds",
        c.disabled_at is null and k.opened_at is not null as "breakerOpen"
      from exchange_connection c
      join exchange_circuit k
        on k.organisation_id = $1
        and k.connection_id = c.id
      cross join lateral (
        select
          coalesce(sum(h.last_sequence - h.sequence + case when h.held_at is null then 1 else 0 end), 0)::bigint
            as queued,
          count(h.held_at) as held,
          min(h.queued_at) filter (where h.held_at is null) as oldest_queued_at
        from exchange_head h
        where h.organisation_id = $1
          and h.connection_id = c.id
      ) n
      where c.organisation_id = $1`,
    values: [organisationId],
  });
  return rows;
}
