/**
 * SQL of the last count of what waits. Monitoring reads it, whatever the size of the queue (docs/adr/0055).
 * Contract: EXC-52.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { COUNTS, type QueueState, stateOf } from './queue-state.store.ts';

export interface CountedState extends QueueState {
  /** It is time to count again, or it was never counted. */
  due: boolean;
}

/** Counts are good for so long at least … */
const GOOD_FOR = `interval '10 seconds'`;
/** … and for so many times the time that counting took: it takes a thirtieth of one processor at most. */
const DUE = `(q.counted_at is null or q.counted_at + greatest(${GOOD_FOR}, q.took_ms * 30 * interval '1 millisecond') <= now())`;

/** Of every connection that was ever counted. Reads one row for each, whatever waits. */
export async function countedStates(db: Queryable): Promise<{ states: CountedState[]; uncounted: boolean }> {
  const { rows } = await db.query<CountedState & { counted: boolean }>({
    name: 'exchange-counted-states',
    text: `
      select ${stateOf('q')}, q.connection_id is not null as counted, ${DUE} as due
      from exchange_connection c
      join exchange_circuit k
        on k.organisation_id = c.organisation_id
        and k.connection_id = c.id
      left join exchange_queue_count q
        on q.organisation_id = c.organisation_id
        and q.connection_id = c.id`,
  });
  const states = rows.flatMap(({ counted, ...state }) => (counted ? [state] : []));
  return { states, uncounted: states.length < rows.length };
}

/** Count what is due. Of several processes that ask at once, one does it; the others return at once. */
export async function countQueues(db: Queryable): Promise<void> {
  await db.query({
    name: 'exchange-count-queues',
    text: `
      with mine as materialized (
        select pg_try_advisory_xact_lock(hashtextextended('exchange-count-queues', 0)) as got
      )
      insert into exchange_queue_count (organisation_id, connection_id, queued, held, oldest_queued_at, counted_at,
        took_ms)
      select c.organisation_id, c.id, n.queued, n.held, n.oldest_queued_at, now(),
        extract(epoch from clock_timestamp() - now()) * 1000
      from exchange_connection c
      left join exchange_queue_count q
        on q.organisation_id = c.organisation_id
        and q.connection_id = c.id
      cross join lateral (
        select ${COUNTS}
        from exchange_head h
        where h.organisation_id = c.organisation_id
          and h.connection_id = c.id
      ) n
      where (select got from mine)
        and ${DUE}
      on conflict (organisation_id, connection_id) do update
      set queued = excluded.queued,
          held = excluded.held,
          oldest_queued_at = excluded.oldest_queued_at,
          counted_at = excluded.counted_at,
          took_ms = excluded.took_ms`,
  });
}
