-- Publishing to external FHIR servers (specification, "Publish to an external FHIR server"; design 3.5;
-- docs/adr/0050).

-- Where resources are sent to: configuration of the operator, of one organisation or of them all. Not a tenant
-- table; on a distributed database it is a reference table.
create table publish_target (
  id uuid primary key,
  -- Null: a target of every organisation that has none of that name.
  organisation_id uuid references organisation (id),
  name text not null,
  base text not null,
  auth text not null check (auth in ('none', 'bearer', 'basic', 'api-key')),
  -- Lower case; of an API key.
  auth_header text,
  -- Of basic authentication.
  auth_user text,
  -- Token, password or key, sealed under the master key for this row and this secret_id.
  secret_id uuid,
  sealed_secret bytea,
  content_type text not null default 'application/json',
  id_policy text not null default 'client' check (id_policy in ('client', 'server')),
  reference_policy text not null default 'literal' check (reference_policy in ('literal', 'logical', 'send')),
  allow_local_codes boolean not null default false,
  -- For one request.
  timeout_ms integer not null default 10000 check (timeout_ms between 100 and 120000),
  -- Requests under way at once, of one process.
  max_in_flight integer not null default 8 check (max_in_flight between 1 and 64),
  -- What is published to when a call names no target.
  is_default boolean not null default false,
  disabled_at timestamptz,
  -- Set once it is removed: what was published stays on record, the secret does not.
  removed_at timestamptz,
  -- Moved by every change, so that processes notice.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  check ((secret_id is null) = (sealed_secret is null)),
  check (removed_at is null or (secret_id is null and not is_default))
);
create unique index publish_target_name on publish_target (organisation_id, name) nulls not distinct
  where removed_at is null;
create unique index publish_target_default on publish_target (organisation_id) nulls not distinct
  where is_default;

-- What a target holds of ours. A row without server_id: a create was begun, and whether it was done is not known.
-- No foreign key to the target: targets are never deleted, and the check would cost every resource a look-up.
create table publish_resource (
  organisation_id uuid not null,
  facility_id uuid not null,
  target_id uuid not null,
  resource_type text not null,
  local_id uuid not null,
  -- The id that the target gave or took.
  server_id text,
  version_id text,
  -- SHA-256 of what was sent.
  content_hash bytea,
  method text check (method in ('PUT', 'POST')),
  status smallint,
  published_at timestamptz,
  -- The publish that wrote it last; one that goes on after a failure keeps the number of the one before.
  chain_id uuid,
  primary key (organisation_id, facility_id, target_id, resource_type, local_id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
) with (fillfactor = 80);

-- Every publish, as it went.
create table publish_run (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  subject_kind text not null check (subject_kind in ('lab-order', 'imaging-order', 'vital-set')),
  subject_id uuid not null,
  target_id uuid not null references publish_target (id),
  chain_id uuid not null,
  account_id uuid not null,
  purpose_of_use text not null check (purpose_of_use in ('TREATMENT', 'PAYMENT', 'OPS', 'RESEARCH')),
  correlation_id text not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- By the clock of the database, which no two processes disagree on: what the last publish was.
  begun_at timestamptz not null default clock_timestamp(),
  -- interrupted: its process ended before it did.
  outcome text not null default 'running' check (outcome in ('running', 'done', 'failed', 'interrupted')),
  -- Whether the next publish goes on from here; else it sends everything again.
  resumable boolean not null default true,
  -- What was answered: a failure's message; the resources as they were answered to the caller.
  failure text,
  published json not null default '[]',
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
create index publish_run_by_subject
  on publish_run (organisation_id, facility_id, subject_kind, subject_id, begun_at desc, id desc);

-- One publish at a time of one patient's records to one target, and one create at a time of a record that
-- patients share. Not held in a transaction: the holder renews it while it sends.
create table publish_lease (
  organisation_id uuid not null,
  target_id uuid not null,
  resource_type text not null,
  record_id uuid not null,
  token uuid not null,
  leased_until timestamptz not null,
  primary key (organisation_id, target_id, resource_type, record_id)
) with (fillfactor = 50);
