/** SQL that lists publishes: of one record, of one patient or of a facility, newest first, by `begun_at`. */
import { BEFORE_ALL, type TimePosition } from '../../clinical/fetch/patient-page.store.ts';
import { exactly, rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { PublishRun } from '../publish.schema.ts';
import type { Subject, SubjectKind } from '../runs/run.store.ts';

/**
 * How run `r` of organisation `$1` went. One that no lease stands for any more ended with its process, whether or not another
 * publish of the record has come since.
 */
const OUTCOME = `
  case
    when r.outcome = 'running' and not coalesce((
      select l.leased_until > clock_timestamp()
      from publish_lease l
      where l.organisation_id = $1
        and l.target_id = r.target_id
        and l.resource_type = r.subject_kind
        and l.record_id = r.subject_id
    ), false) then 'interrupted'
    else r.outcome
  end`;

interface Listed {
  id: string;
  target: string;
  startedAt: string;
  finishedAt: string | null;
  failure: string | null;
  correlationId: string;
  position: TimePosition;
}

/** As it is read, with its times as PostgreSQL writes them. */
type Row<One extends Listed> = Omit<One, 'position'> & { begunAt: string };

function listed<One extends Row<Listed>>({ begunAt, ...run }: One) {
  return {
    ...run,
    startedAt: instantFromTimestamp(run.startedAt),
    finishedAt: run.finishedAt === null ? null : instantFromTimestamp(run.finishedAt),
    position: [begunAt, run.id] as const,
  };
}

export type ListedRun = PublishRun & { position: TimePosition };

/** Those of one order or vital set. */
export async function listRuns(
  db: Queryable,
  scope: FacilityScope,
  { subject, limit, after = BEFORE_ALL }: Slice<TimePosition> & { subject: Subject },
): Promise<ListedRun[]> {
  const { rows } = await db.query<Row<ListedRun>>({
    name: 'publish-run-list',
    text: `
      select r.id, t.name as target, r.begun_at::text as "begunAt", r.started_at::text as "startedAt",
        r.finished_at::text as "finishedAt", ${OUTCOME} as outcome, r.failure, r.account_id as "accountId",
        r.purpose_of_use as "purposeOfUse", r.correlation_id as "correlationId", r.published
      from publish_run r
      join publish_target t
        on t.id = r.target_id
      where r.organisation_id = $1
        and r.facility_id = $2
        and r.subject_kind = $3
        and ${exactly('r.subject_id', '$4::uuid')}
        and (r.begun_at, r.id) < ($5::timestamptz, $6::uuid)
      order by r.subject_id, r.begun_at desc, r.id desc
      limit $7`,
    values: [scope.organisationId, scope.facilityId, subject.kind, subject.id, ...after, limit],
  });
  return rows.map(listed);
}

export interface PublicationFilter {
  kind?: SubjectKind | undefined;
  state?: PublishRun['outcome'] | undefined;
  /** Name of a target. */
  target?: string | undefined;
  patientId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface ListedPublication extends Listed {
  kind: SubjectKind;
  recordId: string;
  state: PublishRun['outcome'];
  /** Resources that were stored. */
  stored: number;
}

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
  { filter, limit, after = BEFORE_ALL }: Slice<TimePosition> & { filter: PublicationFilter },
): Promise<ListedPublication[]> {
  const { kind, state, target, patientId, since, until } = filter;
  const { rows } = await db.query<Row<ListedPublication>>({
    text: `
      select r.id, r.subject_kind as kind, r.subject_id as "recordId", t.name as target, ${OUTCOME} as state,
        r.begun_at::text as "begunAt", r.started_at::text as "startedAt", r.finished_at::text as "finishedAt",
        json_array_length(r.published) as stored, r.failure, r.correlation_id as "correlationId"
      from ${patientId === undefined ? 'publish_run r' : RUNS_OF_PATIENT}
      join publish_target t
        on t.id = r.target_id
      where r.organisation_id = $1
        and r.facility_id = $2
        and ($3::text is null or r.subject_kind = $3)
        and ($4::text is null or ${OUTCOME} = $4)
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
  return rows.map(listed);
}

/** How publishes of a facility to a target went, as far as the newest of them tell. */
interface TargetHistory {
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
  const { rows } = await db.query<
    { targetId: string; failedAt: Date | null; failure: string | null } & Pick<TargetHistory, 'lastSuccessAt'>
  >({
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
      { lastSuccessAt, lastFailure: failedAt === null ? null : { at: failedAt, message: failure ?? '' } },
    ]),
  );
}
