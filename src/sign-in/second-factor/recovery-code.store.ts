/** SQL of recovery codes: a row is one that was not used. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export async function deleteRecoveryCodes(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<void> {
  await db.query({
    name: 'recovery-codes-delete',
    text: `
      delete from account_recovery_code
      where organisation_id = $1
        and account_id = $2`,
    values: [organisationId, accountId],
  });
}

/** In a transaction that holds the account. */
export async function replaceRecoveryCodes(
  db: Queryable,
  scope: OrganisationScope,
  { accountId, hashes }: { accountId: string; hashes: readonly Buffer[] },
): Promise<void> {
  await deleteRecoveryCodes(db, scope, accountId);
  await db.query({
    name: 'recovery-codes-insert',
    text: `
      insert into account_recovery_code (organisation_id, account_id, code_hash)
      select $1, $2, unnest($3::bytea[])`,
    values: [scope.organisationId, accountId, hashes],
  });
}

/** True once for each code. */
export async function takeRecoveryCode(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { accountId, hash }: { accountId: string; hash: Buffer },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'recovery-code-take',
    text: `
      delete from account_recovery_code
      where organisation_id = $1
        and account_id = $2
        and code_hash = $3`,
    values: [organisationId, accountId, hash],
  });
  return rowCount === 1;
}
