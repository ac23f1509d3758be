/** SQL of the publishes of a facility, of all records or of those of one patient, newest first. */
import { rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { ListedRun, RunPosition, SubjectKind } from '../runs/run.store.ts';

export interface PublicationFilter {
  kind?: SubjectKind | undefined;
  state?: ListedRun['outcome'] | undefined;
  /** Name of a target. */
  target?: string | undefined;
  patientId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface ListedPublication
  extends Omit<ListedRun, 'outcome' | 'published' | 'accountId' | 'purposeOfUse'> {
  kind: SubjectKind;
  recordId: string;
  state: ListedRun['outcome'];
  /** Resources that were stored. */
  stored: number;
}

interface PublicationRow extends Omit<ListedPublication, 'position'> {
  begunAt: string;
}

const AFTER_ALL: RunPosition = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

const OF_PATIENT = { first: { facility_id: '$2' }, column: 'patient_id', value: '$9::uuid' };

/** The orders of patient `$9`, with ids that were replaced since (docs/adr/0110). Those are few. */
const ORDERS = `
          select o.id
          from ${rowsByIndex('investigation_order', 'o', OF_PATIENT, 'o.id')} o
          union
          ${['investigation_report', 'imaging_study', 'observation']
            .map(
              (table) => `select old.id
          from replaced_order old
          cross join ${rowByKey(table, 'part', { facility_id: '$2', id: 'old.part_id' }, 'part.patient_id')} part
          where old.organisation_id = $1
            and old.facility_id = $2
            and old.part_table = '${table}'
            and part.patient_id = $9::uuid`,
            )
            .join('\n          union\n          ')}`;

/** The publishes of the orders and vital sets of patient `$9`, each found by its own key. */
const RUNS_OF_PATIENT = `(
        select kind.name as kind, orders.id
        from (${ORDERS}
        ) orders
        cross join (values ('lab-order'), ('imaging-order')) as kind (name)
        union all
        select 'vital-set', s.id
        from ${rowsByIndex('vital_set', 's', OF_PATIENT, 's.id')} s
      ) subject
      cross join ${rowsByIndex('publish_run', 'r', {
        first: { facility_id: '$2', subject_kind: 'subject.kind' },
        column: 'subject_id',
        value: 'subject.id',
      })} r`;

/** Publishes that began at or after `since` and before `until`. */
export async function listPublicationPage(
  db: Queryable,
  scope: FacilityScope,
  { filter, limit, after = AFTER_ALL }: Slice<RunPosition> & { filter: PublicationFilter },
): Promise<ListedPublication[]> {
  const { kind, state, target, patientId, since, until } = filter;
  const { rows } = await db.query<PublicationRow>({
    text: `
      select r.id, r.subject_kind as kind, r.subject_id as "recordId", t.name as target, r.outcome as state,
        r.begun_at::text as "begunAt", r.started_at::text as "startedAt", r.finished_at::text as "finishedAt",
        json_array_length(r.published) as stored, r.failure, r.correlation_id as "correlationId"
      from ${patientId === undefined ? 'publish_run r' : RUNS_OF_PATIENT}
      join publish_target t
        on t.id = r.target_id
      where r.organisation_id = $1
        and r.facility_id = $2
        and ($3::text is null or r.subject_kind = $3)
        and ($4::text is null or r.outcome = $4)
        and ($5::text is null or t.name = $5)
        and (r.begun_at, r.id) < ($6::timestamptz, $7::uuid)
        and ($10::timestamptz is null or r.begun_at >= $10)
        and ($11::timestamptz is null or r.begun_at < $11)
        ${patientId === undefined ? 'and $9::uuid is null' : ''}
      order by r.begun_at desc, r.id desc
      limit $8`,
    values: [
      scope.organisationId,
      scope.facilityId,
      kind,
      state,
      target,
      ...after,
      limit,
      patientId,
      since,
      until,
    ],
  });
  return rows.map(({ begunAt, ...run }) => ({
    ...run,
    startedAt: instantFromTimestamp(run.startedAt),
    finishedAt: run.finishedAt === null ? null : instantFromTimestamp(run.finishedAt),
    position: [begunAt, run.id],
  }));
}

/** How publishes of a facility to a target went, as far as the newest of them tell. */
export interface TargetHistory {
  targetId: string;
  lastSuccessAt: Date | null;
  lastFailure: { at: Date; message: string } | null;
}

/** Publishes of one target that are looked at, from the newest on. */
const LOOKED_AT = 200;

export async function targetHistories(
  db: Queryable,
  scope: FacilityScope,
  targetIds: readonly string[],
): Promise<Map<string, TargetHistory>> {
  const { rows } = await db.query<{
    targetId: string;
    lastSuccessAt: Date | null;
    failedAt: Date | null;
    failure: string | null;
  }>({
    name: 'publish-target-histories',
    text: `
      select asked.id as "targetId", newest."lastSuccessAt", newest."failedAt", newest.failure
      from unnest($3::uuid[]) as asked (id)
      cross join lateral (
        select max(r.finished_at) filter (where r.outcome = 'done') as "lastSuccessAt",
          (array_agg(r.finished_at order by r.begun_at desc) filter (where r.outcome = 'failed'))[1] as "failedAt",
          (array_agg(r.failure order by r.begun_at desc) filter (where r.outcome = 'failed'))[1] as failure
        from (
          select run.outcome, run.finished_at, run.begun_at, run.failure
          from publish_run run
          where run.organisation_id = $1
            and run.facility_id = $2
            and run.target_id = asked.id
          order by run.begun_at desc, run.id desc
          limit $4
        ) r
      ) newest`,
    values: [scope.organisationId, scope.facilityId, targetIds, LOOKED_AT],
  });
  return new Map(
    rows.map(({ targetId, lastSuccessAt, failedAt, failure }) => [
      targetId,
      {
        targetId,
        lastSuccessAt,
        lastFailure: failedAt === null ? null : { at: failedAt, message: failure ?? '' },
      },
    ]),
  );
}
