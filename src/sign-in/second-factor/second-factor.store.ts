/** What an account has of second factors, and whether its role asks for one. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface SecondFactor {
  /** The role requires one. */
  required: boolean;
  totp: boolean;
  passkeys: number;
  recoveryCodesLeft: number;
}

/** Columns of {@link SecondFactor}, beside an account `a` with its role `r`; `$1` is the organisation. */
export const SECOND_FACTOR_COLUMNS = `
        a.user_type = 'STAFF' and r.requires_second_factor as required,
        exists (
          select
          from account_totp t
          where t.organisation_id = $1
            and t.account_id = a.id
        ) as totp,
        (
          select count(*)::integer
          from account_passkey p
          where p.organisation_id = $1
            and p.account_id = a.id
        ) as passkeys,
        (
          select count(*)::integer
          from account_recovery_code c
          where c.organisation_id = $1
            and c.account_id = a.id
        ) as "recoveryCodesLeft"`;

export async function readSecondFactor(
  db: Queryable,
  { organisationId }: OrganisationScope,
  accountId: string,
): Promise<SecondFactor> {
  const { rows } = await db.query<SecondFactor>({
    name: 'second-factor-read',
    text: `
      select ${SECOND_FACTOR_COLUMNS}
      from account a
      cross join ${rowsByIndex('role', 'r', { column: 'id', value: 'a.role_id' })} r
      where a.organisation_id = $1
        and a.id = $2`,
    values: [organisationId, accountId],
  });
  return rows[0] ?? { required: false, totp: false, passkeys: 0, recoveryCodesLeft: 0 };
}
