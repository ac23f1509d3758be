/** What the administration of an organisation keeps on record of a change (docs/adr/0141). Contract: ADM-30, ADM-31. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../platform/db/database.ts';
import type { Author } from '../administration/author.ts';
import type { OrganisationScope } from '../scope.ts';
import { insertAudit } from './audit.store.ts';
import type { AuditEntry, AuditedMembers } from './audit-entry.ts';

/**
 * Keep the change on record, in its transaction. Of `before` and `after` only what differs is kept. False where both are
 * given and nothing differs: nothing was changed, and nothing is kept.
 */
export async function recordChange(
  client: Client,
  { organisationId }: OrganisationScope,
  author: Author,
  { before, after, ...entry }: AuditEntry,
): Promise<boolean> {
  const gone = differing(before ?? {}, after ?? {});
  const come = differing(after ?? {}, before ?? {});
  const changes = Object.keys({ ...gone, ...come }).length > 0;
  if (before !== undefined && after !== undefined && !changes) return false;
  await insertAudit(client, { organisationId }, author, {
    ...entry,
    id: randomUUID(),
    correlationId: author.kind === 'account' ? author.correlationId : randomUUID(),
    before: gone,
    after: come,
  });
  return true;
}

function differing(members: AuditedMembers, others: AuditedMembers): AuditedMembers {
  return Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, others[name]),
    ),
  );
}
