/** What people and systems change of their own sign-in, in the record of changes. Contract: ADM-70, ADM-77. */
import type { Client } from '../../platform/db/database.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditEntry } from '../../tenancy/audit/audit-entry.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { findByUserId } from '../accounts/account.store.ts';
import { facilityIdsOf } from './managed-account.store.ts';

/** In the transaction of the change. Author and subject are the account. */
export async function recordOwnChange(
  client: Client,
  { organisationId, accountId, correlationId }: OrganisationScope & OwnChange,
  change: Pick<AuditEntry, 'action' | 'before' | 'after'>,
): Promise<void> {
  const scope = { organisationId };
  const entry = await findByUserId(client, accountId);
  await recordChange(
    client,
    scope,
    { kind: 'account', accountId, correlationId },
    {
      ...change,
      subject: { type: 'account', id: accountId, name: entry?.email },
      facilityIds: await facilityIdsOf(client, scope, accountId),
    },
  );
}

interface OwnChange {
  accountId: string;
  correlationId: string;
}
