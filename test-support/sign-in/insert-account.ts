import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { AccountOptions, Tenant } from '../service/api.ts';

/** An account with a role of its own and a session, put straight into a test database. */
export async function insertAccount(
  db: Queryable,
  { organisationId, facilityId }: Tenant,
  options: AccountOptions & { now?: Date } = {},
) {
  const { permissions = [], facilityIds = [facilityId], userType = 'EHR', now = new Date() } = options;
  const [userId, roleId, sessionId] = [randomUUID(), randomUUID(), randomUUID()];
  const email = `system-${userId.slice(0, 8)}@example.org`;
  const expiresAt = new Date(now.getTime() + 90 * 86_400_000);
  const run = (text: string, ...values: unknown[]) => db.query({ text, values: [organisationId, ...values] });
  await run(
    'insert into role (organisation_id, id, name, permissions) values ($1, $2, $3, $4)',
    roleId,
    `role ${roleId}`,
    permissions,
  );
  await run(
    'insert into account_directory (organisation_id, user_id, email) values ($1, $2, $3)',
    userId,
    email,
  );
  await run(
    `insert into account (organisation_id, id, user_type, role_id, default_facility_id, must_change_password)
     values ($1, $2, $3, $4, $5, $6)`,
    userId,
    userType,
    roleId,
    facilityId,
    options.mustChangePassword ?? false,
  );
  await run(
    'insert into account_facility (organisation_id, account_id, facility_id) select $1, $2, unnest($3::uuid[])',
    userId,
    facilityIds,
  );
  await run(
    'insert into session (organisation_id, id, account_id, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    sessionId,
    userId,
    now,
    expiresAt,
  );
  return { userId, email, roleId, sessionId, expiresAt };
}
