/** SQL of publishes: begins one, ends one, and lists those of an order or vital set. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { ResourceKey } from '../plan/content.fhir.ts';
import {
  againAfterDeadlock,
  keyColumns,
  LAST_STORED_PARAMETER,
  RECORD_STORED,
  type RecordedResource,
  recordedOf,
  type StoredResource,
  storedValues,
} from '../send/resource.store.ts';
import {
  giveLeaseBack,
  type HeldLease,
  leaseColumns,
  moveLeaseEnds,
  TAKE_LEASES,
  takingValues,
  type WantedLease,
} from './lease.store.ts';

export type SubjectKind = 'lab-order' | 'imaging-order' | 'vital-set';

/** What is published: one order or vital set. */
export interface Subject {
  kind: SubjectKind;
  id: string;
}

/** A resource as it was at the server after a publish (docs/publish.md). */
export interface PublishedResource {
  resourceType: string;
  localId: string;
  /** The id at the server. */
  id: string;
  versionId: string | null;
  method: 'PUT' | 'POST';
  status: number;
  /** ISO 8601 UTC. */
  publishedAt: string;
}

export interface NewRun {
  id: string;
  fhirServerId: string;
  accountId: string;
  purposeOfUse: PurposeOfUse;
  correlationId: string;
  startedAt: Date;
}

export interface RunEnd {
  finishedAt: Date;
  outcome: 'done' | 'failed';
  resumable: boolean;
  failure: string | null;
  published: readonly PublishedResource[];
}

/** Where a publish begins. */
export interface Begun {
  chainId: string;
  /** What the server holds of the resources that are to be sent. */
  recorded: RecordedResource[];
}

export interface RunToBegin {
  subject: Subject;
  run: NewRun;
  since: Date;
  keys: readonly ResourceKey[];
  /** Of the patient; the subject is leased with it. */
  lease: WantedLease;
}

const LEASES_ARE_TAKEN = '(select leases from taken) = cardinality($3::text[])';

/** Parameters 7 to 17 of the statement that begins a publish; {@link takingValues} come before them. */
const BEGIN = `
  with ${TAKE_LEASES},
  last as materialized (
    select r.id, r.chain_id, r.outcome, r.resumable, r.started_at
    from publish_run r
    where r.organisation_id = $1
      and r.facility_id = $7
      and r.subject_kind = $8
      and r.subject_id = $9
      and r.target_id = $2
    order by r.begun_at desc, r.id desc
    limit 1
  ),
  interrupted as (
    update publish_run
    set outcome = 'interrupted',
        finished_at = $14
    where organisation_id = $1
      and facility_id = $7
      and id = (select id from last where outcome = 'running')
      and ${LEASES_ARE_TAKEN}
  ),
  begun as (
    insert into publish_run (organisation_id, facility_id, target_id, subject_kind, subject_id, id, account_id,
      purpose_of_use, correlation_id, started_at, chain_id)
    select $1, $7, $2, $8, $9, $10::uuid, $11, $12, $13, $14,
      coalesce((select chain_id from last where outcome <> 'done' and resumable and started_at > $15), $10::uuid)
    where ${LEASES_ARE_TAKEN}
    returning chain_id
  )
  select taken.leases::integer as leases, begun.chain_id as "runChainId", recorded.*
  from taken
  left join begun on true
  left join (${recordedOf('$16', '$17')}) recorded on begun.chain_id is not null`;

/** With nulls for the resource where the server holds none, or nothing was begun. */
type BeginRow = RecordedResource & { leases: number; runChainId: string | null };

/**
 * In one statement, take the leases, record that a publish begins, and look up what the server holds. Undefined:
 * somebody else has a lease. The publish continues the chain of the last one to the same server if that one stopped
 * before its end, began after `since` and may be continued. Otherwise it begins a new chain.
 */
export async function beginRun(
  db: Queryable,
  scope: FacilityScope,
  { subject, run, since, keys, lease }: RunToBegin,
): Promise<Begun | undefined> {
  const statement = {
    name: 'publish-run-begin',
    text: BEGIN,
    values: [
      ...takingValues(lease),
      scope.facilityId,
      subject.kind,
      subject.id,
      run.id,
      run.accountId,
      run.purposeOfUse,
      run.correlationId,
      run.startedAt,
      since,
      ...keyColumns(keys),
    ],
  };
  const { rows } = await againAfterDeadlock(() => db.query<BeginRow>(statement));
  const { leases = 0, runChainId: chainId = null } = rows[0] ?? {};
  if (chainId === null) {
    // Another publish took one of them in the same moment. Nobody waits for one lease while holding the other.
    // If giving back fails, the lease ends by itself.
    if (leases > 0) await againAfterDeadlock(() => giveLeaseBack(db, lease)).catch(() => undefined);
    return undefined;
  }
  return { chainId, recorded: rows.filter(({ key }) => key !== null) };
}

/** In one statement, record how a publish ended and what it stored, and give its lease back. */
export async function endRun(
  db: Queryable,
  scope: FacilityScope,
  {
    id,
    end,
    stored,
    lease,
  }: { id: string; end: RunEnd; stored: readonly StoredResource[]; lease: HeldLease },
): Promise<void> {
  const statement = {
    name: 'publish-run-end',
    text: `
      with ${RECORD_STORED}, ${moveLeaseEnds(LAST_STORED_PARAMETER + 1)}
      update publish_run
      set finished_at = ${own(7)}, outcome = ${own(8)}, resumable = ${own(9)}, failure = ${own(10)}, published = ${own(11)}
      where organisation_id = $1
        and facility_id = ${own(5)}
        and id = ${own(6)}`,
    values: [
      ...storedValues(scope, lease.key.fhirServerId, stored),
      ...leaseColumns(lease.key),
      lease.token,
      // It ends now.
      0,
      scope.facilityId,
      id,
      end.finishedAt,
      end.outcome,
      end.resumable,
      end.failure,
      JSON.stringify(end.published),
    ],
  };
  await againAfterDeadlock(() => db.query(statement));
}

/** The n-th parameter of the end itself, after those of what was stored. */
function own(n: number): string {
  return `$${LAST_STORED_PARAMETER + n}`;
}

export interface ListedRun {
  id: string;
  target: string;
  startedAt: string;
  finishedAt: string | null;
  outcome: 'running' | 'done' | 'failed' | 'interrupted';
  failure: string | null;
  accountId: string;
  purposeOfUse: PurposeOfUse;
  correlationId: string;
  published: PublishedResource[];
  position: RunPosition;
}

/** `begun_at` as PostgreSQL writes it, and the id. */
export type RunPosition = readonly [at: string, id: string];

interface RunRow extends Omit<ListedRun, 'position'> {
  begunAt: string;
}

const AFTER_ALL: RunPosition = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** Newest first. */
export async function listRuns(
  db: Queryable,
  scope: FacilityScope,
  { subject, limit, after = AFTER_ALL }: Slice<RunPosition> & { subject: Subject },
): Promise<ListedRun[]> {
  const { rows } = await db.query<RunRow>({
    name: 'publish-run-list',
    text: `
      select r.id, t.name as target, r.begun_at::text as "begunAt", r.started_at::text as "startedAt",
        r.finished_at::text as "finishedAt", r.outcome, r.failure, r.account_id as "accountId",
        r.purpose_of_use as "purposeOfUse", r.correlation_id as "correlationId", r.published
      from publish_run r
      join publish_target t
        on t.id = r.target_id
      where r.organisation_id = $1
        and r.facility_id = $2
        and r.subject_kind = $3
        and r.subject_id = $4
        and (r.begun_at, r.id) < ($5::timestamptz, $6::uuid)
      order by r.begun_at desc, r.id desc
      limit $7`,
    values: [scope.organisationId, scope.facilityId, subject.kind, subject.id, ...after, limit],
  });
  return rows.map(({ begunAt, ...run }) => ({
    ...run,
    startedAt: instantFromTimestamp(run.startedAt),
    finishedAt: run.finishedAt === null ? null : instantFromTimestamp(run.finishedAt),
    position: [begunAt, run.id],
  }));
}
