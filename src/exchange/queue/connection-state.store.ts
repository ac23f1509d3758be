/** SQL by which a worker learns which connections have something due, and how to deliver to one. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { ConnectionKey } from './lane.store.ts';
import { REOPENED } from './parking.store.ts';

export interface ConnectionState extends ConnectionKey {
  version: number;
  breakerOpen: boolean;
  /** Something may be leased now. */
  due: boolean;
  /** Lanes were set aside for a facility that is open again. */
  reopened: boolean;
  /** Until something that waits becomes due, in ms; null when nothing waits for its time. */
  dueInMs: number | null;
}

/** Enabled connections of an organisation. */
export async function connectionStates(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<ConnectionState[]> {
  const { rows } = await db.query<ConnectionState>({
    name: 'exchange-connection-states',
    text: `
      select c.organisation_id as "organisationId", c.id as "connectionId", c.version,
        k.opened_at is not null as "breakerOpen",
        coalesce(n.due_at <= now() and (k.opened_at is null or k.probe_at <= now()), false) as due,
        (extract(epoch from
          case
            when k.opened_at is null then least(n.due_at, f.free_at)
            when f.free_at is not null then greatest(least(n.due_at, f.free_at), k.probe_at)
          end - now()
        ) * 1000)::double precision as "dueInMs",
        exists (
          select from exchange_head h
          where h.organisation_id = $1
            and h.connection_id = c.id
            and h.parked_facility_id is not null
        ) and exists (
          select from facility f
          where f.organisation_id = $1
            and exists (
              select from exchange_head h
              where h.organisation_id = $1
                and h.connection_id = c.id
                and h.parked_facility_id = f.id
            )
            and ${REOPENED}
        ) as reopened
      from exchange_connection c
      join exchange_circuit k
        on k.organisation_id = $1
        and k.connection_id = c.id
      left join lateral (
        select h.due_at
        from exchange_head h
        where h.organisation_id = $1
          and h.connection_id = c.id
          and h.due_at is not null
          and h.leased_until <= now()
        order by h.due_at
        limit 1
      ) n on true
      -- While nothing is due, this one is leased, if any is: the worker that leased it may have died.
      left join lateral (
        select greatest(h.due_at, h.leased_until) as free_at
        from exchange_head h
        where h.organisation_id = $1
          and h.connection_id = c.id
          and h.due_at is not null
        order by h.due_at
        limit 1
      ) f on true
      where c.organisation_id = $1
        and c.disabled_at is null`,
    values: [organisationId],
  });
  return rows;
}

/** What a worker needs to deliver. */
export interface SendSettings {
  address: string;
  clientId: string;
  purposeOfUse: PurposeOfUse;
  maxInFlight: number;
  timeoutMs: number;
  /** See {@link reachOf}. */
  operatorAddress: boolean;
}

/** Undefined when the connection is disabled. */
export async function sendSettings(db: Queryable, key: ConnectionKey): Promise<SendSettings | undefined> {
  const { rows } = await db.query<SendSettings>({
    name: 'exchange-connection-settings',
    text: `
      select address, client_id as "clientId", purpose_of_use as "purposeOfUse", max_in_flight as "maxInFlight",
        timeout_ms as "timeoutMs", operator_address as "operatorAddress"
      from exchange_connection
      where organisation_id = $1
        and id = $2
        and disabled_at is null`,
    values: [key.organisationId, key.connectionId],
  });
  return rows[0];
}

/** The next probe of a breaker that is open need not wait. */
export async function probeNow(db: Queryable, key: ConnectionKey): Promise<void> {
  await db.query({
    name: 'exchange-circuit-probe-now',
    text: `
      update exchange_circuit
      set probe_at = now()
      where organisation_id = $1
        and connection_id = $2
        and opened_at is not null
        and probe_at > now()`,
    values: [key.organisationId, key.connectionId],
  });
}

/** How many lanes one change of a connection makes due. What waits beyond them keeps its time. */
const DUE_AT_ONCE = 10_000;

/**
 * Deliveries that wait for their next try are due now, whatever they were told to wait. One that a change of its patient has
 * locked keeps its time: that change may wait for another one of these.
 */
export async function waitingDueNow(db: Queryable, key: ConnectionKey): Promise<void> {
  await db.query({
    name: 'exchange-waiting-due-now',
    text: `
      update exchange_head
      set due_at = now()
      where organisation_id = $1
        and connection_id = $2
        and patient_id = any(array(
          select patient_id
          from exchange_head
          where organisation_id = $1
            and connection_id = $2
            and due_at > now()
          order by due_at
          limit $3
          for update skip locked
        ))`,
    values: [key.organisationId, key.connectionId, DUE_AT_ONCE],
  });
}
