/**
 * Makes the statements of some organisations fail, and only theirs, as on a distributed database one of whose nodes is
 * down: whatever statement of the service's role meets a row of such an organisation is refused, or has no answer.
 */

import type pg from 'pg';
import { DISTRIBUTED_TABLES } from '../../src/app/scale-out/placement.ts';
import type { TestDatabase } from './database.ts';
import { needsPlainPostgres } from './plain-postgres.ts';

export interface Faults {
  /** From now on statements that meet rows of the organisation fail; in `table` alone when one is named. */
  fail(organisationId: string, table?: string): Promise<void>;
  /** From now on such statements have no answer. */
  hang(organisationId: string, table?: string): Promise<void>;
  /** What hangs meanwhile, of whatever organisation, is cancelled. */
  mend(organisationId: string): Promise<void>;
  /** The names of the connections whose statements hang now. */
  hanging(): Promise<string[]>;
  /** How many statements were refused so far. */
  refusals(): Promise<number>;
}

/** For the tests that make an organisation fail. On a cluster a table of the coordinator cannot say which one does. */
export const ONE_FAILS = needsPlainPostgres('policies that ask one table stand in for a node that is down');

/** What Citus answers where the node of the rows cannot be reached. */
const CONNECTION_FAILURE = '08006';

const HANGING = `from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;

/** Call it once for a database. It ends with that. */
export async function prepareFaults(database: Pick<TestDatabase, 'connectOwner'>): Promise<Faults> {
  const owner = await database.connectOwner();
  if (ONE_FAILS.skip === undefined) await guardTables(owner);
  return {
    async fail(organisationId, table) {
      await owner.query('insert into failing_rows values ($1, $2, false)', [organisationId, table]);
    },
    async hang(organisationId, table) {
      await owner.query('insert into failing_rows values ($1, $2, true)', [organisationId, table]);
    },
    async mend(organisationId) {
      await owner.query('delete from failing_rows where organisation_id = $1', [organisationId]);
      await owner.query(`select pg_cancel_backend(pid) ${HANGING}`);
    },
    async hanging() {
      const { rows } = await owner.query<{ name: string }>(`select application_name as name ${HANGING}`);
      return rows.map(({ name }) => name);
    },
    async refusals() {
      const { rows } = await owner.query<{ count: number }>(
        'select case when is_called then last_value else 0 end::int as count from refusal',
      );
      return rows[0]?.count ?? 0;
    },
  };
}

async function guardTables(owner: pg.Client): Promise<void> {
  await owner.query(`
    create table failing_rows (organisation_id uuid, table_name text, hangs boolean);
    create sequence refusal;
    -- Dear, so that the planner asks it last: rows that a statement does not want are not asked about.
    create function answers(organisation uuid, name text) returns boolean
    language plpgsql stable security definer cost 100000 as $$
    begin
      if exists (
        select from failing_rows f
        where f.organisation_id = organisation
          and (f.table_name is null or f.table_name = name)
          and f.hangs
      ) then
        perform pg_sleep(3600);
      elsif exists (
        select from failing_rows f
        where f.organisation_id = organisation
          and (f.table_name is null or f.table_name = name)
      ) then
        perform nextval('refusal');
        raise exception using errcode = '${CONNECTION_FAILURE}', message = 'the node of this organisation is down';
      end if;
      return true;
    end $$;`);
  for (const table of DISTRIBUTED_TABLES)
    await owner.query(`
      alter table ${table} enable row level security;
      create policy node on ${table} using (answers(organisation_id, '${table}'))
        with check (answers(organisation_id, '${table}'))`);
}
