/** That a list of accounts leaves out nobody, where accounts are at several facilities. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { listAccountRows } from './account-list.store.ts';

/** More than are few at first, and at each of two facilities. */
const ACCOUNTS = 1_200;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

test('accounts at several facilities are all listed, however many they are [ADM-9]', async () => {
  const { pool } = database;
  const { id: organisationId } = await createOrganisation(pool, { name: 'Large' });
  const facilityIds: string[] = [];
  for (const name of ['hospital', 'clinic'])
    facilityIds.push((await createFacility(pool, { organisationId, name })).id);
  const role = randomUUID();
  await pool.query(`insert into role (organisation_id, id, name) values ($1, $2, 'everybody')`, [
    organisationId,
    role,
  ]);
  // Ids do not follow the addresses.
  const people = `(select i, md5('person' || i)::uuid as id from generate_series(1, ${ACCOUNTS}) i) p`;
  await pool.query(
    `insert into account_directory (organisation_id, user_id, email)
     select $1, p.id, 'person' || lpad(p.i::text, 6, '0') || '@example.org' from ${people}`,
    [organisationId],
  );
  await pool.query(
    `insert into account (organisation_id, id, user_type, role_id, password_hash, created_at)
     select $1, p.id, 'EHR', $2, '', now() from ${people}`,
    [organisationId, role],
  );
  await pool.query(
    `insert into account_facility (organisation_id, account_id, facility_id)
     select $1, p.id, f.id from ${people} cross join unnest($2::uuid[]) f(id)`,
    [organisationId, facilityIds],
  );
  const filter = { userTypes: ['EHR', 'STAFF'], facilityIds } as const;
  const emails: string[] = [];
  for (;;) {
    const last = emails.at(-1);
    const page = await listAccountRows(
      pool,
      { organisationId },
      { filter, limit: 100, databaseTime: null, after: last === undefined ? undefined : [last] },
    );
    emails.push(...page.map(({ email }) => email));
    if (page.length < 100) break;
  }
  assert.equal(new Set(emails).size, ACCOUNTS);
  assert.equal(emails.length, ACCOUNTS);
});
