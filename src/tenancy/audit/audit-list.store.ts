/** SQL of reading the record of changes, newest first. Contract: ADM-32. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../scope.ts';
import type { SubjectType } from './audit-entry.ts';

/** Where a page ended: instant in milliseconds, and id. */
export type AuditPosition = readonly [at: string, id: string];

export interface AuditFilter {
  /** The operator, an account by id, or one by its address as it was. */
  actor?: { kind?: 'operator'; id?: string; email?: string } | undefined;
  action?: string | undefined;
  /** The id or the name of what was changed. */
  subject?: string | undefined;
  since?: Date | undefined;
  /** Exclusive. */
  until?: Date | undefined;
  /** Entries that concern one of these, or the whole organisation; undefined: all. */
  facilityIds?: readonly string[] | undefined;
}

export interface AuditRow {
  id: string;
  at: Date;
  actorKind: 'account' | 'operator';
  actorId: string | null;
  actorEmail: string | null;
  action: string;
  subjectType: SubjectType;
  subjectId: string;
  subjectName: string | null;
  facilityIds: string[] | null;
  before: Record<string, unknown>;
  after: Record<string, unknown>;
  correlationId: string;
}

export async function listAudit(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { filter, after, limit }: Slice<AuditPosition> & { filter: AuditFilter },
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>({
    text: `
      select id, occurred_at as at, actor_kind as "actorKind", actor_id as "actorId", actor_email as "actorEmail",
        action, subject_type as "subjectType", subject_id as "subjectId", subject_name as "subjectName",
        facility_ids::text[] as "facilityIds", before, after, correlation_id as "correlationId"
      from administration_audit
      where organisation_id = $1
        and ($2::text is null or actor_kind = $2)
        and ($11::uuid is null or actor_id = $11)
        and ($12::text is null or actor_email = $12)
        and ($3::text is null or action = $3)
        and ($4::text is null or subject_id = $4 or subject_name = $4)
        and ($5::timestamptz is null or occurred_at >= $5)
        and ($6::timestamptz is null or occurred_at < $6)
        and ($7::uuid[] is null or facility_ids is null or facility_ids && $7)
        and ($8::timestamptz is null or (occurred_at, id) < ($8::timestamptz, $9::uuid))
      order by occurred_at desc, id desc
      limit $10`,
    values: [
      organisationId,
      filter.actor?.kind,
      filter.action,
      filter.subject,
      filter.since,
      filter.until,
      filter.facilityIds,
      after?.[0],
      after?.[1],
      limit,
      filter.actor?.id,
      filter.actor?.email,
    ],
  });
  return rows;
}
