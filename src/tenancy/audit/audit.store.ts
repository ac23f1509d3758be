/** SQL of the record of changes: adding to it. Contract: ADM-30. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Author } from '../administration/author.ts';
import type { OrganisationScope } from '../scope.ts';
import type { AuditEntry } from './audit-entry.ts';

/** The address of the account is kept as it is now. The time has milliseconds, as pages tell it. */
export async function insertAudit(
  db: Queryable,
  { organisationId }: OrganisationScope,
  author: Author,
  entry: Required<AuditEntry> & { id: string; correlationId: string },
): Promise<void> {
  const accountId = author.kind === 'account' ? author.accountId : null;
  const { now, email } = await readMoment(db, accountId);
  await db.query({
    name: 'administration-audit-insert',
    text: `
      insert into administration_audit (organisation_id, id, occurred_at, actor_kind, actor_id, actor_email, action,
        subject_type, subject_id, subject_name, facility_ids, before, after, correlation_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      organisationId,
      entry.id,
      now,
      author.kind,
      accountId,
      email,
      entry.action,
      entry.subject.type,
      entry.subject.id,
      entry.subject.name,
      entry.facilityIds,
      JSON.stringify(entry.before),
      JSON.stringify(entry.after),
      entry.correlationId,
    ],
  });
}

/** Behind the locks of the change, so that changes stand in their order. */
async function readMoment(
  db: Queryable,
  accountId: string | null,
): Promise<{ now: Date | undefined; email: string | null | undefined }> {
  const { rows } = await db.query<{ now: Date; email: string | null }>({
    name: 'administration-audit-moment',
    text: `
      select date_trunc('milliseconds', clock_timestamp()) as now, (
        select email
        from account_directory
        where user_id = $1
      ) as email`,
    values: [accountId],
  });
  return { now: rows[0]?.now, email: rows[0]?.email };
}
