/** SQL by which a worker learns which connections have something due, and how to deliver to one. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from './lane.store.ts';
import { REOPENED } from './parking.store.ts';

export interface ConnectionState extends ConnectionKey {
  version: number;
  breakerOpen: boolean;
  /** Something may be leased now. */
  due: boolean;
  /** Lanes were set aside for a facility that is open again. */
  reopened: boolean;
}

/**
 * Enabled connections of all organisations. Runs across organisations: on a distributed database the tables are
 * co-located by organisation, so each shard answers for its own.
 */
export async function connectionStates(db: Queryable): Promise<ConnectionState[]> {
  const { rows } = await db.query<ConnectionState>({
    name: 'exchange-connection-states',
    text: `
      select c.organisation_id as "organisationId", c.id as "connectionId", c.version,
        k.opened_at is not null as "breakerOpen",
        (k.opened_at is null or k.probe_at <= now()) and exists (
          select from exchange_head h
          where h.organisation_id = c.organisation_id
            and h.connection_id = c.id
            and h.due_at <= now()
            and h.leased_until <= now()
        ) as due,
        exists (
          select from exchange_head h
          where h.organisation_id = c.organisation_id
            and h.connection_id = c.id
            and h.parked_facility_id is not null
        ) and exists (
          select from facility f
          where f.organisation_id = c.organisation_id
            and exists (
              select from exchange_head h
              where h.organisation_id = c.organisation_id
                and h.connection_id = c.id
                and h.parked_facility_id = f.id
            )
            and ${REOPENED}
        ) as reopened
      from exchange_connection c
      join exchange_circuit k
        on k.organisation_id = c.organisation_id
        and k.connection_id = c.id
      where c.disabled_at is null`,
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
