-- The access log (specification, "Purpose of use"; design section 4). Append-only for the service's role
-- (see grants.sql), partitioned by month, hash-chained per writer.

create table access_log (
  organisation_id uuid not null,
  occurred_at timestamptz not null,
  writer_id uuid not null,
  sequence bigint not null,
  facility_id uuid not null,
  patient_id uuid not null,
  account_id uuid not null,
  action text not null,
  resource_type text not null,
  resource_id uuid,
  purpose_of_use text not null,
  outcome text not null check (outcome in ('allowed', 'refused')),
  correlation_id text not null,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (organisation_id, occurred_at, writer_id, sequence)
) partition by range (occurred_at);
create index access_log_by_patient
  on access_log (organisation_id, patient_id, occurred_at desc, writer_id desc, sequence desc);
create index access_log_by_writer on access_log (writer_id, sequence);

-- Months are made ahead by the service; a row never lacks a place.
create table access_log_default partition of access_log default;

-- One row per chain. number has no gaps; last_sequence and last_hash are its head, moved in the same
-- statement that appends.
create table access_log_writer (
  id uuid primary key,
  number bigint not null unique,
  started_at timestamptz not null,
  genesis_hash bytea not null,
  last_sequence bigint not null default 0,
  last_hash bytea not null,
  head_seal bytea not null
);

-- How many writers there are, sealed, so that the newest cannot vanish without a trace.
create table access_log_registry (
  single_row boolean primary key default true check (single_row),
  last_number bigint not null,
  seal bytea not null
);
