/** SQL of publishes: begins one, and ends one. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { exactly } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { PublishedResource } from '../publish.schema.ts';

export type SubjectKind = 'lab-order' | 'imaging-order' | 'vital-set';

/** What is published: one order or vital set. */
export interface Subject {
  kind: SubjectKind;
  id: string;
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
  id: string;
  finishedAt: Date;
  /** Why it stopped; null: everything is stored. */
  failure: string | null;
  resumable: boolean;
  published: readonly PublishedResource[];
}

/**
 * Record that a publish begins. One that was running under the same lease is marked as interrupted. Returns the id of
 * the chain of tries: that of the last publish to the same server if that one stopped before its end, began after `since`
 * and may be continued; otherwise the id of this one.
 */
export async function beginRun(
  db: Queryable,
  scope: FacilityScope,
  { subject, run, since }: { subject: Subject; run: NewRun; since: Date },
): Promise<string> {
  const { rows } = await db.query<{ chainId: string }>({
    name: 'publish-run-begin',
    text: `
      with last as materialized (
        select r.id, r.chain_id, r.outcome, r.resumable, r.started_at
        from publish_run r
        where r.organisation_id = $1
          and r.facility_id = $2
          and r.subject_kind = $3
          and ${exactly('r.subject_id', '$4::uuid')}
          and r.target_id = $5
        order by r.subject_id, r.begun_at desc, r.id desc
        limit 1
      ),
      interrupted as (
        update publish_run
        set outcome = 'interrupted',
            finished_at = $10
        where organisation_id = $1
          and facility_id = $2
          and id = (select id from last where outcome = 'running')
      )
      insert into publish_run (organisation_id, facility_id, subject_kind, subject_id, target_id, id, account_id,
        purpose_of_use, correlation_id, started_at, chain_id)
      select $1, $2, $3, $4, $5, $6::uuid, $7, $8, $9, $10,
        coalesce((select chain_id from last where outcome <> 'done' and resumable and started_at > $11), $6::uuid)
      returning chain_id as "chainId"`,
    values: [
      scope.organisationId,
      scope.facilityId,
      subject.kind,
      subject.id,
      run.fhirServerId,
      run.id,
      run.accountId,
      run.purposeOfUse,
      run.correlationId,
      run.startedAt,
      since,
    ],
  });
  return rows[0]?.chainId ?? run.id;
}

/** Record how a publish ended. */
export async function endRun(
  db: Queryable,
  scope: FacilityScope,
  { id, finishedAt, failure, resumable, published }: RunEnd,
): Promise<void> {
  await db.query({
    name: 'publish-run-end',
    text: `
      update publish_run
      set finished_at = $4,
          outcome = $5,
          resumable = $6,
          failure = $7,
          published = $8
      where organisation_id = $1
        and facility_id = $2
        and id = $3`,
    values: [
      scope.organisationId,
      scope.facilityId,
      id,
      finishedAt,
      failure === null ? 'done' : 'failed',
      resumable,
      failure,
      JSON.stringify(published),
    ],
  });
}
