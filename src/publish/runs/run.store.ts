/** SQL of publishes: each from its start to its end, and the history of an order or vital set. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type ResourceKey, splitKey } from '../plan/content.fhir.ts';
import {
  keyColumns,
  LAST_STORED_PARAMETER,
  RECORD_STORED,
  RECORDED_NAMES,
  type RecordedResource,
  type ResourceRow,
  type StoredResource,
  storedValues,
  toRecorded,
} from '../send/resource.store.ts';
import { againAfterDeadlock } from './again-after-deadlock.ts';
import { type HeldLease, leaseColumns } from './lease.store.ts';

export type SubjectKind = 'lab-order' | 'imaging-order' | 'vital-set';

/** What is published: one order or vital set. */
export interface Subject {
  kind: SubjectKind;
  id: string;
}

/** A resource as a publish left it at the target (docs/publish.md). */
export interface PublishedResource {
  resourceType: string;
  localId: string;
  /** The id at the target. */
  id: string;
  versionId: string | null;
  method: 'PUT' | 'POST';
  status: number;
  /** ISO 8601 UTC. */
  publishedAt: string;
}

export interface NewRun {
  id: string;
  targetId: string;
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
  /** What the target holds of the resources that are to be sent. */
  recorded: RecordedResource[];
}

export interface RunToBegin {
  subject: Subject;
  run: NewRun;
  since: Date;
  keys: readonly ResourceKey[];
  /** Of the patient; the subject is leased with it. */
  lease: HeldLease & { durationMs: number };
}

/**
 * Take the leases, write down that a publish begins, and look up what the target holds: at once. Undefined: someone
 * else has the lease. The chain is that of the last publish to the same target when it stopped before its end,
 * began after `since` and left something to go on from; else a new one.
 */
export async function beginRun(
  db: Queryable,
  scope: FacilityScope,
  { subject, run, since, keys, lease }: RunToBegin,
): Promise<Begun | undefined> {
  const { type, id: recordId } = splitKey(lease.key.record);
  const { rows } = await db.query<ResourceRow & { run_chain_id: string; local_id: string | null }>({
    name: 'publish-run-begin',
    text: `
      select run_chain_id, ${RECORDED_NAMES}
      from publish_begin($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    values: [
      scope.organisationId,
      run.targetId,
      ...keyColumns(keys),
      type,
      recordId,
      lease.token,
      lease.durationMs,
      scope.facilityId,
      subject.kind,
      subject.id,
      run.id,
      run.accountId,
      run.purposeOfUse,
      run.correlationId,
      run.startedAt,
      since,
    ],
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    chainId: first.run_chain_id,
    recorded: rows.flatMap((row) => (row.local_id === null ? [] : [toRecorded(row)])),
  };
}

/** Write down how a publish ended, what it stored and is not on record yet, and give its lease back: at once. */
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
      with ${RECORD_STORED},
      given_back as (
        delete from publish_lease
        where organisation_id = $1
          and target_id = $2
          and (resource_type, record_id) in (select type, id from unnest(${own(1)}::text[], ${own(2)}::uuid[]) as k (type, id))
          and token = ${own(3)}
      )
      update publish_run
      set finished_at = ${own(6)}, outcome = ${own(7)}, resumable = ${own(8)}, failure = ${own(9)}, published = ${own(10)}
      where organisation_id = $1
        and facility_id = ${own(4)}
        and id = ${own(5)}`,
    values: [
      ...storedValues(scope, lease.key.targetId, stored),
      ...leaseColumns(lease.key),
      lease.token,
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

interface RunRow {
  id: string;
  target: string;
  begun_text: string;
  started_text: string;
  finished_text: string | null;
  outcome: ListedRun['outcome'];
  failure: string | null;
  account_id: string;
  purpose_of_use: PurposeOfUse;
  correlation_id: string;
  published: PublishedResource[];
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
      select r.id, t.name as target, r.begun_at::text as begun_text, r.started_at::text as started_text, r.finished_at::text as finished_text,
        r.outcome, r.failure, r.account_id, r.purpose_of_use, r.correlation_id, r.published
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
  return rows.map(toRun);
}

function toRun(row: RunRow): ListedRun {
  return {
    id: row.id,
    target: row.target,
    startedAt: instantFromTimestamp(row.started_text),
    finishedAt: row.finished_text === null ? null : instantFromTimestamp(row.finished_text),
    outcome: row.outcome,
    failure: row.failure,
    accountId: row.account_id,
    purposeOfUse: row.purpose_of_use,
    correlationId: row.correlation_id,
    published: row.published,
    position: [row.begun_text, row.id],
  };
}
