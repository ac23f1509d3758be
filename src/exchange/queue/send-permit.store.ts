/**
 * SQL that decides, just before a request is written, whether it may still go out (docs/adr/0087).
 * Contract: EXC-24.
 */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { coveredNow, moduleOn } from './covers.ts';
import type { ConnectionKey } from './lane.store.ts';

/** `changed`: something about this delivery; the next lease says what. `outdated`: the connection itself. */
export type Permit = 'send' | 'changed' | 'outdated';

/** A delivery that is about to be sent under its lease. */
export interface PermitRequest {
  patientId: string;
  sequence: number;
  leaseToken: string;
  facilityId: string;
}

/** The connection as it was loaded, and how it is sent under. */
export interface PermitTerms {
  version: number;
  purposeOfUse: PurposeOfUse;
  /** The lease must outlive a request that takes so long. */
  timeoutMs: number;
}

/** One answer for each request, in their order. All are decided by one statement, at one moment. */
export async function permits(
  db: Queryable,
  key: ConnectionKey,
  { version, purposeOfUse, timeoutMs }: PermitTerms,
  requests: readonly PermitRequest[],
): Promise<Permit[]> {
  const { rows } = await db.query<{ is_current: boolean; may: boolean }>({
    name: 'exchange-permits',
    text: PERMITS,
    values: [
      key.organisationId,
      key.connectionId,
      version,
      purposeOfUse,
      timeoutMs,
      requests.map((request) => request.patientId),
      requests.map((request) => request.sequence),
      requests.map((request) => request.leaseToken),
      requests.map((request) => request.facilityId),
    ],
  });
  return rows.map(({ is_current, may }) => (is_current ? (may ? 'send' : 'changed') : 'outdated'));
}

// By arrays and by reads of one row, as the lease (lane.store.ts): `exists` would leave the planner the choice of
// reading every waiting lane of the connection into a hash. Every change of a connection moves its version, also of the
// facilities that it covers; they are asked all the same, because a delivery may have been leased before.
const PERMITS = `
  select
    coalesce((
      select version = $3 and disabled_at is null
      from exchange_connection
      where organisation_id = $1
        and id = $2
    ), false) as is_current,
    coalesce((
      select h.sequence = r.sequence
        and h.lease_token = r.lease_token
        and h.leased_until > now() + $5::integer * interval '1 millisecond'
      from exchange_head h
      where h.organisation_id = $1
        and h.connection_id = $2
        and h.patient_id = r.patient_id
    ), false)
    and coalesce((
      select not $4 = any(p.refused_purposes)
      from patient p
      where p.organisation_id = $1
        and p.id = r.patient_id
    ), false)
    and ${moduleOn('r.facility_id')}
    and ${coveredNow('r.facility_id')} as may
  from unnest($6::uuid[], $7::bigint[], $8::uuid[], $9::uuid[])
    with ordinality r (patient_id, sequence, lease_token, facility_id, place)
  order by place`;
