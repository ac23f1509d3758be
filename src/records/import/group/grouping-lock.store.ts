/** SQL of the lock that lets groupings of the same patients' records go one after the other. */
import { hash } from 'node:crypto';
import { lockNumber } from '../../../platform/db/advisory-locks.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

/** Locks of a facility at most: a Bundle of very many patients must not fill the lock table of the server. */
const BUCKETS = 1_024;

/** Wait for other transactions that group records of these patients; held until this one ends. */
export async function lockGrouping(
  client: Client,
  { organisationId, facilityId }: FacilityScope,
  patientIds: Iterable<string>,
): Promise<void> {
  const buckets = new Set([...patientIds].map((id) => hash('sha1', id, 'buffer').readUInt32BE(0) % BUCKETS));
  const keys = [...buckets]
    .sort((a, b) => a - b)
    .map((bucket) => lockNumber(`group ${organisationId} ${facilityId} ${bucket}`));
  await client.query({
    name: 'import-lock-grouping',
    // In one order for everyone: the rows come as they are given.
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [keys],
  });
}
