/**
 * Functions and tables with the names that Citus gives its own, in a schema of a plain PostgreSQL. They write down what
 * they are asked, and move rows to tables of that schema. This shows order, arguments, dry runs and restarts. It proves
 * nothing of Citus itself: which statements a distributed table takes shows a real cluster alone (TEST_CITUS_URL).
 */
import { administer } from './template.ts';

/**
 * Calls wait while a session holds this advisory lock exclusively and has the table in `held`: `patient` for its placing,
 * `rows of patient` for the removal of what is left of it.
 */
export const HOLD_LOCK = 7_246_318_999;

const SCHEMA = 'recorded_citus';

/** Give the database of `url` an extension citus with two workers. Needs a superuser. */
export async function recordCitus(url: string, { version = '13.2-1' } = {}): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await administer(url, [
    `alter database ${name} set search_path = public, ${SCHEMA}`,
    `create schema ${SCHEMA}`,
    `grant usage on schema ${SCHEMA} to public`,
    `set search_path = ${SCHEMA}, public`,
    OBJECTS,
    `grant select on all tables in schema ${SCHEMA} to public`,
    'set allow_system_table_mods = on',
    `insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
     select 99999, 'citus', usesysid, '${SCHEMA}'::regnamespace, false, '${version}'
     from pg_user where usename = current_user`,
  ]);
}

/** What was asked, in order: the name of the function and its arguments. */
export async function callsOf(db: {
  query(text: string): Promise<{ rows: { call: string }[] }>;
}): Promise<string[]> {
  const { rows } = await db.query(`select call from ${SCHEMA}.call order by number`);
  return rows.map(({ call }) => call);
}

const OBJECTS = `
  create table call (number bigint generated always as identity, call text not null);
  create table held (name text primary key);
  create table refused_node (port integer primary key, role text not null);

  create table pg_dist_local_group (groupid integer not null);
  insert into pg_dist_local_group values (0);
  create table pg_dist_node (
    nodeid integer primary key, groupid integer not null, nodename text not null, nodeport integer not null,
    noderole text not null default 'primary', isactive boolean not null default true,
    shouldhaveshards boolean not null default true
  );
  insert into pg_dist_node (nodeid, groupid, nodename, nodeport, shouldhaveshards)
  values (1, 0, 'coordinator', 5432, false), (2, 1, 'worker-1', 5433, true), (3, 2, 'worker-2', 5434, true);
  create table pg_dist_partition (
    logicalrelid regclass primary key, partmethod "char" not null, partkey text, colocationid integer not null,
    repmodel "char" not null
  );

  create function column_to_column_name(table_name regclass, column_var_text text) returns text
  language sql as 'select column_var_text';

  create function citus_check_connection_to_node(nodename text, nodeport integer default 5432) returns boolean
  language sql as $$
    select not exists (select from refused_node where port = nodeport and role in (current_user, 'any'))
  $$;

  create function hold(what text) returns void language plpgsql as $$
  begin
    if exists (select from held where name = what) then
      perform pg_advisory_xact_lock_shared(${HOLD_LOCK});
    end if;
  end $$;

  create function move_rows(moved regclass, asked text) returns void language plpgsql as $$
  begin
    if exists (select from pg_dist_partition where logicalrelid = moved) then
      raise exception 'table % is already distributed', moved;
    end if;
    if exists (select from pg_trigger where tgrelid = moved and not tgisinternal) then
      raise exception 'cannot distribute relation "%" because it has triggers', moved;
    end if;
    perform hold(moved::text);
    insert into call (call) values (asked);
    execute format('create table ${SCHEMA}.%I as select * from %s', 'shard_of_' || moved::text, moved);
  end $$;

  create function create_reference_table(table_name regclass) returns void language plpgsql as $$
  begin
    perform move_rows(table_name, format('create_reference_table(%s)', table_name));
    insert into pg_dist_partition values (table_name, 'n', null, 1, 't');
  end $$;

  create function create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text default 'hash',
    colocate_with text default 'default', shard_count integer default null
  ) returns void language plpgsql as $$
  begin
    if colocate_with <> 'none' and not exists (
      select from pg_dist_partition where logicalrelid = colocate_with::regclass
    ) then
      raise exception 'relation % is not distributed', colocate_with;
    end if;
    perform move_rows(table_name,
      format('create_distributed_table(%s, %s, colocate_with => %s) %s %s', table_name, distribution_column, colocate_with,
        current_setting('citus.enable_local_reference_table_foreign_keys'),
        current_setting('citus.multi_shard_modify_mode') || ' ' || current_setting('citus.shard_replication_factor')));
    insert into pg_dist_partition values (table_name, 'h', distribution_column, 2, 's');
  end $$;

  -- What test-support/database/citus-cluster.ts asks besides.
  create function master_run_on_worker(
    worker_name text[], port integer[], command text[], parallel boolean,
    out node_name text, out node_port integer, out success boolean, out result text
  ) returns setof record language plpgsql as $$
  begin
    if exists (select from refused_node r where r.port = $2[1] and r.role = 'statements') then
      return query select worker_name[1], $2[1], false, 'ERROR:  the disk is full'::text;
      return;
    end if;
    insert into call (call) values (format('%s:%s> %s', worker_name[1], $2[1], btrim(command[1])));
    return query select worker_name[1], $2[1], true, 'done'::text;
  end $$;

  create function citus_set_coordinator_host(host text, port integer default 5432) returns void
  language sql as $$ insert into call (call) values (format('citus_set_coordinator_host(%s, %s)', host, port)) $$;

  create function citus_add_node(nodename text, nodeport integer) returns integer
  language sql as $$ insert into call (call) values (format('citus_add_node(%s, %s)', nodename, nodeport)) returning 1 $$;

  create view citus_lock_waits as
  select 20000000000 + a.pid as waiting_gpid, 20000000000 + b.pid as blocking_gpid
  from pg_stat_activity a, unnest(pg_blocking_pids(a.pid)) b (pid);

  create function recover_prepared_transactions() returns integer
  language sql as $$ select 0 $$;

  create function truncate_local_data_after_distributing_table(function_name regclass) returns void
  language plpgsql as $$
  begin
    if exists (
      select from pg_constraint
      where contype = 'f' and confrelid = function_name
        and conrelid not in (select logicalrelid from pg_dist_partition)
    ) then
      raise exception 'cannot truncate a table referenced in a foreign key constraint by a local table';
    end if;
    perform hold(format('rows of %s', function_name));
    insert into call (call) values (format('truncate_local_data_after_distributing_table(%s)', function_name));
    execute format('truncate %s cascade', function_name);
  end $$;
`;
