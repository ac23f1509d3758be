/** Good and bad statements for each rule that Citus sets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestDatabase } from '../test-support/database/database.ts';
import { checkStatements, placeOf } from './statement-check.ts';
import { statementFaults } from './statement-rules.ts';
import { IMMUTABLE, STABLE } from './statement-volatility.ts';

function rulesBroken(sql: string): number[] {
  return [...new Set(statementFaults(sql, placeOf).map(({ rule }) => rule))].sort();
}

const GOOD: Readonly<Record<string, string>> = {
  'one table': 'select id from patient where organisation_id = $1 and id = $2',
  'a parameter with a cast': 'select id from patient where organisation_id = $1::uuid',
  'a constant': "select id from patient where organisation_id = '00000000-0000-0000-0000-000000000000'",
  'a comparison of rows': 'select 1 from patient p where (p.organisation_id, p.id) = ($1, $2)',
  'each table of a join': `
    select 1
    from encounter e
    join patient p on p.organisation_id = $1 and p.id = e.patient_id
    where e.organisation_id = $1`,
  'a left join': `
    select 1
    from encounter e
    left join patient p on p.organisation_id = $1 and p.id = e.patient_id
    where e.organisation_id = $1`,
  'an outer join whose other side states it in the where': `
    select 1
    from (facility f join role r on r.organisation_id = $1 and r.id = f.id)
    right join patient p on f.organisation_id = $1 and p.id = f.id
    where p.organisation_id = $1`,
  'a lateral look-up': `
    select p.id
    from unnest($2::uuid[]) as asked (id)
    cross join lateral (
      select p.id
      from patient p
      where p.organisation_id = $1 and p.id = asked.id
      offset 0
    ) p`,
  'a sub-select in the where': `
    select 1
    from facility f
    where f.organisation_id = $1
      and not exists (select from role r where r.organisation_id = $1 and r.id = f.id)`,
  'a reference table beside a distributed one': `
    select 1
    from account_directory d
    join account a on a.organisation_id = $1 and a.id = d.user_id
    where d.user_id = $2`,
  'a union': `
    select id from patient where organisation_id = $1
    union
    select id from practitioner where organisation_id = $1`,
  'a recursive CTE': `
    with recursive above (id) as (
      select part_of_id from encounter where organisation_id = $1 and id = $2
      union
      select e.part_of_id from above a join encounter e on e.organisation_id = $1 and e.id = a.id
    )
    select id from above`,
  'a volatile function in a select': 'select clock_timestamp() from patient where organisation_id = $1',
  'an insert of values': 'insert into role (organisation_id, id, created_at) values ($1, $2, now())',
  'an insert of a select with what it computes': `
    insert into publish_lease as held (organisation_id, target_id, resource_type, record_id, token, leased_until)
    select $1, $2, type, id, $3, clock_timestamp() + interval '1 second'
    from unnest($4::text[], $5::uuid[]) as wanted (type, id)
    on conflict (organisation_id, target_id, resource_type, record_id) do update
    set token = excluded.token, leased_until = excluded.leased_until
    where coalesce(held.leased_until < excluded.leased_until, lower(held.resource_type) = 'x')
    returning record_id`,
  'a time that the coordinator computes once': `
    update session set revoked_at = now() where organisation_id = $1 and expires_at < now() - interval '1 day'`,
  'a time from a materialised CTE': `
    with moment as materialized (select clock_timestamp() as at)
    update session set revoked_at = moment.at from moment where organisation_id = $1 and id = $2`,
  'case of columns and parameters': `
    update session set revoked_at = case when revoked_at is null then $3 else revoked_at end
    where organisation_id = $1 and id = $2`,
  'a lock of rows of one organisation': 'select id from account where organisation_id = $1 for no key update',
  'local tables alone':
    'update sign_in_counter set updated_at = coalesce(locked_until, now()) returning now()',
  'a local table in a materialised CTE': `
    with writer as materialized (select id from access_log_writer)
    select 1 from access_log l where l.organisation_id = $1 and l.writer_id in (select id from writer)`,
  'a notification by itself': 'select pg_notify($1, $2)',
  'what is no query': 'truncate write_probe',
};

const BAD: readonly { name: string; rules: readonly number[]; sql: string }[] = [
  { name: 'no organisation', rules: [1], sql: 'select id from patient where id = $1' },
  {
    name: 'the organisation of another table',
    rules: [1],
    sql: `
      select 1
      from encounter e
      join patient p on p.organisation_id = e.organisation_id and p.id = e.patient_id
      where e.organisation_id = $1`,
  },
  {
    name: 'a join by using',
    rules: [1],
    sql: 'select 1 from account join role using (organisation_id) where organisation_id = $1',
  },
  {
    name: 'the organisation in an or',
    rules: [1],
    sql: 'select 1 from patient where organisation_id = $1 or id = $2',
  },
  { name: 'several organisations', rules: [1], sql: 'select 1 from patient where organisation_id = any($1)' },
  {
    name: 'two parameters',
    rules: [1],
    sql: 'select 1 from encounter e join patient p on p.organisation_id = $2 where e.organisation_id = $1',
  },
  {
    name: 'a fence without the organisation',
    rules: [1],
    sql: `
      select mine.id
      from (select r.* from investigation_report r where r.imaging_study_ids @> $2 offset 0) mine
      where mine.organisation_id = $1`,
  },
  {
    name: 'a sub-select of the organisation around it',
    rules: [1],
    sql: `
      select 1
      from facility f
      where f.organisation_id = $1
        and exists (select from role r where r.organisation_id = f.organisation_id)`,
  },
  {
    name: 'a sub-select in the select list',
    rules: [1],
    sql: 'select (select name from role r where r.id = $2) from facility where organisation_id = $1',
  },
  {
    name: 'a CTE',
    rules: [1],
    sql: 'with mine as materialized (select * from patient) select 1 from mine where organisation_id = $1',
  },
  {
    name: 'a CTE that is planned with the rest',
    rules: [1],
    sql: 'with mine as (select * from patient) select 1 from mine where organisation_id = $1',
  },
  {
    name: 'the organisation of the side of a left join that stays',
    rules: [1],
    sql: 'select 1 from encounter e left join patient p on p.organisation_id = $1 and e.organisation_id = $1',
  },
  {
    name: 'the organisation of the side of a right join that stays',
    rules: [1],
    sql: 'select 1 from encounter e right join patient p on p.organisation_id = $1 and e.organisation_id = $1',
  },
  {
    name: 'the organisation of either side of a full join',
    rules: [1],
    sql: 'select 1 from encounter e full join patient p on p.organisation_id = $1 and e.organisation_id = $1',
  },
  {
    name: 'a month of the access log',
    rules: [1],
    sql: 'select 1 from access_log_2026_01 where writer_id = $1',
  },
  { name: 'a table made of a query', rules: [1], sql: 'create temp table mine as select * from patient' },
  { name: 'a cursor', rules: [1], sql: 'declare every_patient cursor for select * from patient' },
  { name: 'a copy of a query', rules: [1], sql: 'copy (select * from patient) to stdout' },
  { name: 'a copy of a table', rules: [1], sql: 'copy patient from stdin' },
  { name: 'every row of a table', rules: [1], sql: 'truncate account_totp' },
  {
    name: 'a merge',
    rules: [1],
    sql: 'merge into role r using unnest($1::uuid[]) as x (id) on r.id = x.id when matched then delete',
  },
  {
    name: 'an organisation from keys',
    rules: [1],
    sql: `
      update observation o
      set order_id = null
      from (select $1::uuid as organisation_id, id from unnest($2::uuid[]) as id offset 0) k
      where o.organisation_id = k.organisation_id and o.id = k.id`,
  },
  { name: 'a delete', rules: [1], sql: 'delete from session where expires_at < $1' },
  {
    name: 'a delete inside a select',
    rules: [1],
    sql: 'with gone as (delete from session where id = $2 returning 1) select count(*) from gone',
  },
  {
    name: 'now() in do update set',
    rules: [2],
    sql: `
      insert into role (organisation_id, id, created_at) values ($1, $2, now())
      on conflict (organisation_id, id) do update set created_at = now()`,
  },
  {
    name: 'a time and an interval in do update set',
    rules: [2],
    sql: `
      insert into role as r (organisation_id, id) values ($1, $2)
      on conflict (organisation_id, id) do update set created_at = r.created_at + $3 * interval '1 second'`,
  },
  {
    name: 'a function in the where of on conflict',
    rules: [2],
    sql: `
      insert into role as r (organisation_id, id) values ($1, $2)
      on conflict (organisation_id, id) do update set name = $3 where r.created_at < current_timestamp`,
  },
  {
    name: 'a function in returning',
    rules: [2],
    sql: 'update role set name = $2 where organisation_id = $1 returning created_at = now()',
  },
  {
    name: 'a time as text in returning',
    rules: [2],
    sql: 'update role set name = $2 where organisation_id = $1 returning created_at::text',
  },
  {
    name: 'coalesce of an update',
    rules: [2],
    sql: 'update session set revoked_at = coalesce(revoked_at, now()) where organisation_id = $1',
  },
  {
    name: 'case of a delete',
    rules: [2],
    sql: 'delete from session where organisation_id = $1 and case when revoked_at < now() then true end',
  },
  {
    name: 'an interval beside a column',
    rules: [2],
    sql: "delete from session where organisation_id = $1 and created_at + interval '1 day' < $2",
  },
  {
    name: 'a column as a date',
    rules: [2],
    sql: 'delete from session where organisation_id = $1 and created_at::date = $2',
  },
  {
    name: 'clock_timestamp() in an update',
    rules: [3],
    sql: 'update session set revoked_at = clock_timestamp() where organisation_id = $1',
  },
  {
    name: 'an unknown function in an update',
    rules: [3],
    sql: 'update session set revoked_reason = surprise() where organisation_id = $1',
  },
  {
    name: 'a lock that spans organisations',
    rules: [1, 3],
    sql: 'select id from session where expires_at < $1 for update skip locked',
  },
  {
    name: 'a local table beside a distributed one',
    rules: [3],
    sql: 'select 1 from access_log l join access_log_writer w on w.id = l.writer_id where l.organisation_id = $1',
  },
  {
    name: 'a local table in a sub-select',
    rules: [3],
    sql: 'select 1 from account where organisation_id = $1 and exists (select from signing_key)',
  },
  {
    name: 'a local table in a CTE that is planned with the rest',
    rules: [3],
    sql: `
      with writer as (select id from access_log_writer)
      select 1 from access_log l where l.organisation_id = $1 and l.writer_id in (select id from writer)`,
  },
  {
    name: 'a catalogue beside a distributed table',
    rules: [3],
    sql: 'select 1 from account a, pg_locks where a.organisation_id = $1',
  },
  {
    name: 'a reference table that is changed beside a distributed one',
    rules: [3],
    sql: 'update account_directory d set email = $2 from account a where a.organisation_id = $1 and a.id = d.user_id',
  },
  {
    name: 'a view of a local and a distributed table',
    rules: [3],
    sql: `
      create temp view patient as
      select * from dry_run_patient
      union all
      select * from patient where organisation_id = '00000000-0000-0000-0000-000000000000'`,
  },
  { name: 'an insert without columns', rules: [4], sql: 'insert into role values ($1, $2)' },
  {
    name: 'an insert without the organisation',
    rules: [4],
    sql: 'insert into role (id, name) values ($1, $2)',
  },
  {
    name: 'an insert of rows of several organisations',
    rules: [4],
    sql: 'insert into role (organisation_id, id) select organisation, id from unnest($1::uuid[], $2::uuid[]) as x (organisation, id)',
  },
  {
    name: 'a sub-select among values',
    rules: [4],
    sql: 'insert into account (organisation_id, role_id) values ($1, (select id from role where organisation_id = $1))',
  },
  {
    name: 'a sub-select in on conflict',
    rules: [4],
    sql: `
      insert into role (organisation_id, id) values ($1, $2)
      on conflict (organisation_id, id) do update set name = (select name from organisation where id = $1)`,
  },
  {
    name: 'a sub-select in returning',
    rules: [4],
    sql: 'delete from role where organisation_id = $1 returning (select name from organisation where id = $1)',
  },
  {
    name: 'another organisation for a row in on conflict',
    rules: [4],
    sql: `
      insert into role (organisation_id, id) values ($1, $2)
      on conflict (organisation_id, id) do update set organisation_id = $3`,
  },
  {
    name: 'another organisation for a row',
    rules: [4],
    sql: 'update role set organisation_id = $2 where organisation_id = $1',
  },
  { name: 'a generic plan', rules: [5], sql: 'set plan_cache_mode = force_generic_plan' },
  {
    name: 'a notification from a node',
    rules: [5],
    sql: 'select pg_notify($2, id::text) from session where organisation_id = $1',
  },
];

describe('statements that Citus runs on one node', () => {
  for (const [name, sql] of Object.entries(GOOD)) {
    test(`${name}: no rule is broken [OPS-25]`, () => {
      assert.deepEqual(statementFaults(sql, placeOf), []);
    });
  }
});

describe('statements that Citus refuses, or runs on all nodes', () => {
  for (const { name, rules, sql } of BAD) {
    test(`${name}: rule ${rules.join(' and ')} [OPS-25]`, () => {
      assert.deepEqual(rulesBroken(sql), rules);
    });
  }
});

describe('the check of recorded statements', () => {
  const spanning = {
    name: 'sweep',
    from: 'src/sign-in/sessions/sweep.store.ts',
    text: 'delete from session where expires_at < $1',
  };
  const exceptions = [{ statement: 'sweep', rules: [1], reason: 'a sweep' }] as const;

  test('a fault names file, statement, rule and what to do', () => {
    assert.deepEqual(checkStatements([spanning], { exceptions: [] }), [
      'src/sign-in/sessions/sweep.store.ts: sweep: rule 1: session has no condition session.organisation_id = $n of its own',
    ]);
  });

  test('an exception counts for its statement and its rules alone', () => {
    assert.deepEqual(checkStatements([spanning], { exceptions }), []);
    assert.equal(checkStatements([{ ...spanning, name: 'other' }], { exceptions }).length, 1);
    const locking = { ...spanning, text: 'select id from session where id = $1 for update' };
    assert.match(checkStatements([locking], { exceptions }).join(), /rule 3/);
  });

  test('an exception that no statement needs is a fault of a whole run', () => {
    const mended = { ...spanning, text: 'delete from session where organisation_id = $1' };
    assert.deepEqual(checkStatements([mended], { exceptions }), []);
    assert.match(
      checkStatements([mended], { exceptions, whole: true }).join(),
      /no statement needs the exception/,
    );
  });

  test('what PostgreSQL cannot parse is passed over', () => {
    assert.deepEqual(checkStatements([{ ...spanning, text: 'delete fromm session' }]), []);
  });
});

test('the functions that count as immutable or stable are so in PostgreSQL', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  for (const [names, accepted] of [
    [IMMUTABLE, /^i$/],
    [STABLE, /^i?s$/],
  ] as const) {
    const { rows } = await database.pool.query<{ name: string; volatilities: string }>(
      `select name, (select string_agg(distinct provolatile::text, '' order by provolatile::text)
         from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname = name) as volatilities
       from unnest($1::text[]) as name`,
      [[...names]],
    );
    for (const { name, volatilities } of rows)
      if (name !== 'length') assert.match(volatilities ?? 'none', accepted, name);
  }
});
