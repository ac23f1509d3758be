-- Months of the access log that were written to files and removed (docs/adr/0092). The manifest says which part of which
-- chain is in the file, and is sealed. The owner of the schema inserts; the service's role only reads (grants.sql).
create table access_log_archive (
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  -- 1, or more where entries with times of an archived month came later.
  part integer not null,
  manifest jsonb not null,
  archived_at timestamptz not null,
  primary key (month, part)
);
