-- Run by every migration run, with the last migration: what the service's role may do. The access log can be read and
-- appended to, nothing else; its partitions are reached through it only.
grant usage on schema public to interchange_service;
grant select, insert, update, delete on all tables in schema public to interchange_service;
grant usage, select on all sequences in schema public to interchange_service;
revoke update, delete, truncate on access_log from interchange_service;
revoke delete, truncate on access_log_writer, access_log_registry from interchange_service;
revoke insert, update, delete, truncate on schema_migration, data_key from interchange_service;
-- What may be missing from the log, and why, is told by its owner alone.
revoke insert, update, delete, truncate on access_log_archive, database_restore, database_place from interchange_service;
grant truncate on write_probe to interchange_service;
do $$
declare part regclass;
begin
  for part in
    select inhrelid::regclass from pg_inherits where inhparent = 'access_log'::regclass
    union all
    select oid::regclass from pg_class where relkind = 'r' and relname ~ '^access_log_archived_\d'
  loop
    execute format('revoke all on %s from interchange_service', part);
  end loop;
end $$;
-- Nobody who administers an organisation can change what is on record about it.
revoke update, delete, truncate on administration_audit from interchange_service;
