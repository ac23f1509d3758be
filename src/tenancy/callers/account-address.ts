/**
 * SQL of a lateral look-up of the address of an account, `email`. It is found by the account alone: with the organisation
 * beside it, the planner may read the addresses of all its accounts, where it takes them for one.
 */
export function addressOfAccount(accountId: string): string {
  return `lateral (
      select listed.email, listed.organisation_id
      from account_directory listed
      where listed.user_id = ${accountId}
      offset 0
    )`;
}
