/** What a page of the list of accounts reads, also where the planner knows nothing of the tables yet. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { listAccountRows } from './account-list.store.ts';
import type { AccountFilter } from './account-sources.ts';

const PLAIN = needsPlainPostgres('Citus shows plans, and what they read, otherwise');

/** Both are more than are few at first. */
const [SMALL, LARGE] = [6_000, 24_000];

let database: TestDatabase;
let owner: pg.Client;
let organisationId: string;
/** Nearly everybody is at the first. */
let facilities: string[];
/** Nearly everybody holds the first. */
const roles = [randomUUID(), randomUUID()];
before(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  for (const table of ['account', 'account_directory', 'account_facility', 'session'])
    await owner.query(`alter table ${table} set (autovacuum_enabled = false)`);
  ({ id: organisationId } = await createOrganisation(database.pool, { name: 'Large' }));
  facilities = await Promise.all(
    ['hospital', 'clinic'].map(
      async (name) => (await createFacility(database.pool, { organisationId, name })).id,
    ),
  );
  for (const id of roles)
    await owner.query('insert into role (organisation_id, id, name) values ($1, $2, $2::uuid::text)', [
      organisationId,
      id,
    ]);
});
after(async () => {
  await owner.end();
  await database.drop();
});

/**
 * People with the numbers up to `to`. Of the first 600 ten are rare in each way: systems, disabled, without a password,
 * to change it, of the second role, of the clinic. Their addresses stand behind all others.
 */
async function fill(from: number, to: number): Promise<void> {
  const rare = (remainder: number) => `(i < 600 and i % 60 = ${remainder})`;
  const id = `md5('account' || i)::uuid`;
  const email = `(case when i < 600 and i % 60 < 10 then 'zz.rare' || i % 60 else 'person' end)
    || '.n' || lpad(i::text, 6, '0') || '@hospital.example.org'`;
  const numbers = `generate_series(${from}, ${to - 1}) i`;
  await owner.query(`
    insert into account_directory (organisation_id, user_id, email)
    select '${organisationId}', ${id}, ${email} from ${numbers};
    insert into account (organisation_id, id, user_type, role_id, disabled_at, password_hash,
      requires_password_setup, must_change_password, created_at)
    select '${organisationId}', ${id}, case when ${rare(0)} then 'EHR' else 'STAFF' end,
      case when ${rare(4)} then '${roles[1]}' else '${roles[0]}' end::uuid,
      case when ${rare(1)} then now() end, case when not ${rare(2)} then '' end, ${rare(2)}, ${rare(3)}, now()
    from ${numbers};
    insert into account_facility (organisation_id, account_id, facility_id)
    select '${organisationId}', ${id},
      case when ${rare(5)} then '${facilities[1]}' else '${facilities[0]}' end::uuid
    from ${numbers};
    insert into session (organisation_id, id, account_id, created_at, expires_at)
    select '${organisationId}', md5('session' || i)::uuid, ${id}, now(), now() from ${numbers}`);
}

const ENABLED = { disabled: false, requiresPasswordSetup: false, mustChangePassword: false };
/** Each with how many it means; more than a page where nothing is said. */
const FILTERS: readonly (readonly [Partial<AccountFilter>, number?])[] = [
  [{}],
  [ENABLED],
  [{ roleId: roles[0] }],
  [{ search: 'hospital' }],
  [{ search: 'person' }],
  [{ search: 'n' }],
  [{ search: 'n000123' }, 1],
  [{ search: 'person.n0001' }],
  [{ search: 'rare7' }, 10],
  [{ search: 'nobody' }, 0],
  [{ userTypes: ['EHR'] }, 10],
  [{ disabled: true }, 10],
  [{ disabled: false, requiresPasswordSetup: true }, 10],
  [{ ...ENABLED, mustChangePassword: true }, 10],
  [{ roleId: roles[1] }, 10],
  [{ roleId: randomUUID() }, 0],
  [{ roleId: roles[0], search: 'rare7' }, 10],
  [{ search: 'hospital', disabled: true }, 10],
];

async function blocksRead(): Promise<number[]> {
  const read: number[] = [];
  for (const [filter, count] of FILTERS) read.push(await listed(filter, count));
  // An administrator of a small facility in a large organisation.
  read.push(await listed({ facilityIds: facilities.slice(1) }, 10));
  return read;
}

/** Blocks that the first page reads; it has as many accounts as it should. */
async function listed(filter: Partial<AccountFilter>, count = 21): Promise<number> {
  let blocks = 0;
  const db = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await owner.query({ text: `explain (analyze, buffers, format json) ${text}`, values });
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return owner.query({ text, values });
    },
  } as unknown as Queryable;
  const rows = await listAccountRows(
    db,
    { organisationId },
    {
      filter: { userTypes: ['EHR', 'STAFF'], facilityIds: facilities.slice(0, 1), ...filter },
      limit: 21,
      databaseTime: null,
    },
  );
  assert.equal(rows.length, count, JSON.stringify(filter));
  const emails = rows.map(({ email }) => email);
  assert.deepEqual(emails, [...emails].sort());
  return blocks;
}

test('a page of accounts reads as much in an organisation four times as large [ADM-72]', PLAIN, async () => {
  await fill(0, SMALL);
  const few = await blocksRead();
  await fill(SMALL, LARGE);
  const many = await blocksRead();
  const { rows } = await owner.query(`select from pg_stats where tablename like 'account%'`);
  assert.equal(rows.length, 0, 'the tables have statistics');
  await owner.query('analyze account, account_directory, account_facility, session');
  const withStatistics = await blocksRead();
  const read = `${few.join(', ')} among ${SMALL}; ${many.join(', ')} among ${LARGE}; ${withStatistics.join(', ')} with statistics`;
  // An index grows a level now and then.
  for (const [index] of few.entries())
    for (const later of [many, withStatistics])
      assert.ok((later[index] ?? 0) < (few[index] ?? 0) * 1.4 + 100, `${index}: ${read}`);
  assert.ok(Math.max(...few, ...many, ...withStatistics) < 20_000, read);
});
