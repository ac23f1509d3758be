-- What a restore leaves behind (docs/adr/0136). A database that was put back to an older state has forgotten what went
-- out since. Deliveries that are queued from then on are numbered above sequence_floor, which no number reached before.
alter table exchange_connection add column sequence_floor bigint not null default 0;

-- Each time that the database was put back, sealed as the access log is. Written by the owner of the schema alone
-- (grants.sql).
create table database_restore (
  id uuid primary key,
  restored_at timestamptz not null,
  -- Up to when the backup holds everything; null where the backup was made by other tools.
  backup_taken_at timestamptz,
  seal bytea not null
);
