import type pg from 'pg';

/**
 * Keeps autovacuum from the tables of a database: it would collect statistics in the middle of a test that is about there
 * being none, where the machine is busy and the test takes long. `analyze` still does.
 */
export async function neverAnalyze(owner: pg.Client): Promise<void> {
  await owner.query(`
    do $$
    declare one regclass;
    begin
      for one in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', one);
      end loop;
    end $$`);
}
