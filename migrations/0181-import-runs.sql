-- Every import, while it runs and afterwards (docs/adr/0142).
create table import_run (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  source text not null check (source in ('http', 'command')),
  -- Null: an operator at the command line.
  account_id uuid,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  -- Moves while its process works: when it is old, the process has died.
  alive_at timestamptz not null default clock_timestamp(),
  -- finished: everything was taken. rejected: it came to its end, and something was not taken.
  state text not null default 'running' check (state in ('running', 'finished', 'rejected', 'failed')),
  files integer not null default 0,
  total_bytes bigint not null default 0,
  done_bytes bigint not null default 0,
  resources integer not null default 0,
  rejected integer not null default 0,
  -- Why it failed, as the caller was told.
  failure text,
  report json,
  primary key (organisation_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
create index import_run_newest on import_run (organisation_id, facility_id, started_at desc, id desc);
