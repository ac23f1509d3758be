/** SQL of imports that are kept: begins one, notes how far it has come, ends it, and reads it. Contract: ADM-48, ADM-49, ADM-73. */
import { BEFORE_ALL, type TimePosition } from '../../../clinical/fetch/patient-page.store.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { instantFromTimestamp } from '../../../platform/db/timestamp.ts';
import type { Slice } from '../../../platform/http/paging.ts';
import { addressOfAccount } from '../../../tenancy/callers/account-address.ts';
import { type RetentionRule, removeOverdue } from '../../../tenancy/organisations/retention.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { ImportDocument } from '../import-report.ts';
import type { ImportContent, ImportProgress, ImportState, ListedImport } from './kept-import.ts';

export interface NewImport {
  id: string;
  way: ListedImport['way'];
  /** Null: an operator at the command line. */
  accountId: string | null;
  fileName: string | null;
}

/** How far it has come, and what it found to be in the files. */
export interface ImportLook {
  progress: ImportProgress;
  content: ImportContent | null;
}

export interface ImportEnd extends ImportLook {
  state: Exclude<ImportState, 'running'>;
  failure: string | null;
  report: ImportDocument | null;
}

/** All that an import begins with, but for its ids. */
const BEGINNING =
  `source account_id file_name content started_at alive_at finished_at state failure files total_bytes
  done_bytes resources rejected`.split(/\s+/);

/**
 * When it began; undefined when the organisation has an import of this id already. One of the facility
 * that failed begins anew, and so does one whose process died, or could not write down that it failed.
 */
export async function beginImport(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { id, way, accountId, fileName }: NewImport,
): Promise<Date | undefined> {
  const { rows } = await db.query<{ begun: Date }>({
    name: 'import-run-begin',
    text: `
      insert into import_run as r (organisation_id, facility_id, id, source, account_id, file_name)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (organisation_id, id) do update
      set ${BEGINNING.map((column) => `${column} = excluded.${column}`).join(', ')}
      where r.facility_id = excluded.facility_id
        and (
          r.state = 'failed'
          or r.state = 'running' and excluded.alive_at - r.alive_at > interval '1 minute'
        )
      returning r.started_at as begun`,
    values: [organisationId, facilityId, id, way, accountId, fileName],
  });
  return rows[0]?.begun;
}

/** An import that was begun. */
interface BegunImport {
  id: string;
  /** Tells it from an earlier run under the same id, which failed or fell silent. */
  begun: Date;
}

/** SQL that changes an import that runs; `more` is set beside its progress. */
const updateRunning = (more: string) => `
      with at as materialized (
        select clock_timestamp() as now
      )
      update import_run r
      set alive_at = at.now,
        files = $4,
        total_bytes = $5,
        done_bytes = $6,
        resources = $7,
        rejected = $8,
        content = $9${more}
      from at
      where r.organisation_id = $1
        and r.id = $2
        and r.started_at - $3::timestamptz < interval '1 millisecond'
        and r.state = 'running'`;

function lookValues({ progress, content }: ImportLook): (number | string | null)[] {
  const { files, totalBytes, doneBytes, resources, rejected } = progress;
  return [files, totalBytes, doneBytes, resources, rejected, content];
}

/** Says also that its process is alive. */
export async function noteProgress(
  db: Queryable,
  { organisationId }: FacilityScope,
  { id, begun, ...look }: ImportLook & BegunImport,
): Promise<void> {
  await db.query({
    name: 'import-run-progress',
    text: updateRunning(''),
    values: [organisationId, id, begun, ...lookValues(look)],
  });
}

export async function endImport(
  db: Queryable,
  { organisationId }: FacilityScope,
  { id, begun }: BegunImport,
  { state, failure, report, ...look }: ImportEnd,
): Promise<void> {
  await db.query({
    name: 'import-run-end',
    text: updateRunning(', finished_at = at.now, state = $10, failure = $11, report = $12'),
    values: [
      organisationId,
      id,
      begun,
      ...lookValues(look),
      state,
      failure,
      report && JSON.stringify(report),
    ],
  });
}

/** A process says every few seconds that it is alive. One that has not for so long will not any more. */
const DEAD = `(r.state = 'running' and r.alive_at < clock_timestamp() - interval '1 minute')`;
const STATE = `case when ${DEAD} then 'failed' else r.state end`;
const DIED =
  'The process that ran this import has ended. Import again: what was stored stays, and the rest is added.';

const COLUMNS = `
  r.id, ${STATE} as state, r.started_at::text as "startedText", r.finished_at::text as "finishedText",
  case when ${DEAD} then r.alive_at::text end as "diedText",
  r.source as way, r.file_name as "fileName", r.content, r.account_id as "accountId", d.email, r.files, r.total_bytes as "totalBytes",
  r.done_bytes as "doneBytes", r.resources, r.rejected, r.failure`;

const FROM = `
  import_run r
  left join ${addressOfAccount('r.account_id')} d
    on d.organisation_id = $1`;

interface StoredRow
  extends ImportProgress,
    Pick<ListedImport, 'id' | 'state' | 'way' | 'fileName' | 'content' | 'failure'> {
  startedText: string;
  finishedText: string | null;
  diedText: string | null;
  accountId: string | null;
  email: string | null;
}

/** Newest first. */
export async function listImportRuns(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { states, after = BEFORE_ALL, limit }: Slice<TimePosition> & { states: readonly ImportState[] | undefined },
): Promise<ListedImport[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'import-run-list',
    text: `
      select ${COLUMNS}
      from ${FROM}
      where r.organisation_id = $1
        and r.facility_id = $2
        and (r.started_at, r.id) < ($3::timestamptz, $4::uuid)
        and ($5::text[] is null or ${STATE} = any($5))
      order by r.started_at desc, r.id desc
      limit $6`,
    values: [organisationId, facilityId, ...after, states, limit],
  });
  return rows.map(toListed);
}

/** With its report; null while it runs, and when it failed. */
export async function findImportRun(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  id: string,
): Promise<(ListedImport & { report: ImportDocument | null }) | undefined> {
  const { rows } = await db.query<StoredRow & { report: ImportDocument | null }>({
    name: 'import-run-find',
    text: `
      select ${COLUMNS}, r.report
      from ${FROM}
      where r.organisation_id = $1
        and r.facility_id = $2
        and r.id = $3`,
    values: [organisationId, facilityId, id],
  });
  const [row] = rows;
  return row && { ...toListed(row), report: row.report };
}

function toListed(row: StoredRow): ListedImport {
  const { id, state, startedText, finishedText, diedText, way, fileName, content, failure } = row;
  const { accountId, email, files, totalBytes, doneBytes, resources, rejected } = row;
  const ended = finishedText ?? diedText;
  return {
    id,
    state,
    startedAt: instantFromTimestamp(startedText),
    finishedAt: ended === null ? null : instantFromTimestamp(ended),
    startedBy: accountId === null ? { kind: 'operator' } : { kind: 'account', id: accountId, email },
    way,
    fileName,
    content,
    progress: { files, totalBytes, doneBytes, resources, rejected },
    failure: diedText === null ? failure : DIED,
  };
}

/** Forgets imports that began so many days ago. What they brought stays. Contract: ADM-51. */
export function importRetentionRule(days: number): RetentionRule {
  return removeOverdue({
    name: 'imports',
    days,
    table: 'import_run',
    key: ['id'],
    isOver: 't.started_at < $2',
  });
}
