/** One-time links that set a first password; only the hash of their token is kept. Contract: SEC-13. */
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export async function insertSetupLink(
  db: Queryable,
  { organisationId }: OrganisationScope,
  link: { tokenHash: Buffer; accountId: string; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await db.query({
    name: 'setup-link-insert',
    text: `
      insert into password_setup_link (organisation_id, token_hash, account_id, created_at, expires_at)
      values ($1, $2, $3, $4, $5)`,
    values: [organisationId, link.tokenHash, link.accountId, link.createdAt, link.expiresAt],
  });
}

/** The account that an unused link in time is for, if it is not disabled; its address, and the time of the database. */
export async function readSetupLink(
  db: Queryable,
  { organisationId }: OrganisationScope,
  link: { tokenHash: Buffer; databaseTime: DatabaseTime },
): Promise<{ accountId: string; email: string; now: Date } | undefined> {
  const { rows } = await db.query<{ accountId: string; email: string; now: Date }>({
    name: 'setup-link-read',
    text: `
      select l.account_id as "accountId", d.email, clock.now
      from (select ${databaseTimeSql(3)} as now) clock
      cross join password_setup_link l
      join account a
        on a.organisation_id = $1
        and a.id = l.account_id
      join account_directory d
        on d.user_id = a.id
      where l.organisation_id = $1
        and l.token_hash = $2
        and l.used_at is null
        and l.expires_at > clock.now
        and a.disabled_at is null`,
    values: [organisationId, link.tokenHash, link.databaseTime],
  });
  return rows[0];
}

/** False for all but the first use. */
export async function useSetupLink(
  db: Queryable,
  { organisationId }: OrganisationScope,
  link: { tokenHash: Buffer; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'setup-link-use',
    text: `
      update password_setup_link
      set used_at = $3
      where organisation_id = $1
        and token_hash = $2
        and used_at is null
        and expires_at > $3`,
    values: [organisationId, link.tokenHash, link.now],
  });
  return rowCount === 1;
}

/** Every link of an account that was not used stops working. */
export async function deleteUnusedSetupLinks(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<void> {
  await db.query({
    name: 'setup-link-delete',
    text: `
      delete from password_setup_link
      where organisation_id = $1
        and account_id = $2
        and used_at is null`,
    values: [organisationId, accountId],
  });
}
