/** SQL of passkeys. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/** All of the account, or the one with `id`. False when there was none. */
export async function deletePasskeys(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
  id: string | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'passkey-delete',
    text: `
      delete from account_passkey
      where organisation_id = $1
        and account_id = $2
        and ($3::uuid is null or id = $3)`,
    values: [organisationId, accountId, id],
  });
  return (rowCount ?? 0) > 0;
}
