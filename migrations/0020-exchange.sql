-- Delivery of patients to exchanges, and their callbacks (specification, "Health information exchange delivery
-- and callback"; design 3.6; docs/adr/0020).

-- Where a connection id leads to its organisation: a callback names nothing else. Not a tenant table; on a
-- distributed database it is a reference table.
create table exchange_connection_directory (
  connection_id uuid primary key,
  organisation_id uuid not null
);

create table exchange_connection (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  name text not null,
  -- Where deliveries are posted.
  address text not null,
  client_id text not null,
  -- Lower case.
  callback_header text not null default 'x-signature',
  -- `system` of the identifiers that the exchange assigns.
  identifier_system text not null,
  purpose_of_use text not null default 'OPS'
    check (purpose_of_use in ('TREATMENT', 'PAYMENT', 'OPS', 'RESEARCH')),
  -- Requests under way at once, of one worker process.
  max_in_flight integer not null default 16 check (max_in_flight between 1 and 256),
  timeout_ms integer not null default 10000 check (timeout_ms between 100 and 120000),
  -- True: every facility of the organisation, also later ones. False: those of exchange_connection_facility.
  all_facilities boolean not null,
  disabled_at timestamptz,
  -- Moved by every change of the connection or its secrets, so that workers notice.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  primary key (organisation_id, id)
);

create table exchange_connection_facility (
  organisation_id uuid not null,
  connection_id uuid not null,
  facility_id uuid not null,
  primary key (organisation_id, connection_id, facility_id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);

-- Secrets, sealed under the master key. Several of one direction are good at once while they are rotated.
create table exchange_secret (
  organisation_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  direction text not null check (direction in ('outbound', 'callback')),
  sealed bytea not null,
  created_at timestamptz not null,
  -- Null: until it is rotated.
  good_until timestamptz,
  last_used_at timestamptz,
  -- What it was last used for: `delivery <id>` or `callback <delivery id>`.
  last_used_for text,
  primary key (organisation_id, connection_id, id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);

-- One row per connection and patient that was ever queued: what numbers its deliveries, and the digest of the
-- Patient that was queued last.
create table exchange_lane (
  organisation_id uuid not null,
  connection_id uuid not null,
  patient_id uuid not null,
  last_sequence bigint not null,
  digest bytea not null,
  primary key (organisation_id, connection_id, patient_id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
) with (fillfactor = 80);

-- The ledger of deliveries. Rows are never changed: where a delivery stands follows from the head of its lane.
create table exchange_delivery (
  organisation_id uuid not null,
  connection_id uuid not null,
  patient_id uuid not null,
  sequence bigint not null,
  -- UUIDv7, so that ids ascend with time.
  id uuid not null,
  facility_id uuid not null,
  event text not null check (event in ('patient.created', 'patient.updated')),
  occurred_at timestamptz not null,
  -- The envelope, byte for byte as it is sent.
  body text not null,
  primary key (organisation_id, connection_id, patient_id, sequence),
  foreign key (organisation_id, connection_id, patient_id)
    references exchange_lane (organisation_id, connection_id, patient_id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
create unique index exchange_delivery_by_id on exchange_delivery (organisation_id, id);

-- One row per lane with something undelivered: the delivery that is next. A worker that leases a row may send
-- that delivery until the lease ends; lease_token fences off every other. Narrow and short-lived, so that the
-- work per delivery does not grow with the backlog or the history. No foreign keys here and on the attempts: each
-- row is written from a delivery, and the check would lock the connection's row at every try.
create table exchange_head (
  organisation_id uuid not null,
  connection_id uuid not null,
  patient_id uuid not null,
  -- The delivery that is next, and the last one queued behind it.
  sequence bigint not null,
  last_sequence bigint not null,
  -- When the delivery that is next was queued.
  queued_at timestamptz not null,
  -- Not tried before. Null while held.
  due_at timestamptz,
  -- Tries that count towards the last one.
  attempts smallint not null default 0,
  lease_token uuid,
  leased_until timestamptz not null default '-infinity',
  -- Set while it waits for review.
  held_at timestamptz,
  held_reason text,
  primary key (organisation_id, connection_id, patient_id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index exchange_head_due on exchange_head (organisation_id, connection_id, due_at) where due_at is not null;
create index exchange_head_held on exchange_head (organisation_id, connection_id, held_at) where held_at is not null;

-- Every try, as it ended: delivered; failed, to be tried again; refused for good by the exchange; withheld by the
-- patient's privacy; unsent because the circuit opened after the access was logged. nonce is also the correlation id of the try in the access log.
create table exchange_attempt (
  organisation_id uuid not null,
  connection_id uuid not null,
  patient_id uuid not null,
  sequence bigint not null,
  nonce uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null check (outcome in ('delivered', 'failed', 'refused', 'withheld', 'unsent')),
  -- HTTP status; null when there was no answer.
  status smallint,
  -- Why there was no answer: a stable code.
  failure text,
  response_hash bytea,
  -- False when the exchange was taken for down, so that the try is not used up.
  counted boolean not null,
  primary key (organisation_id, connection_id, patient_id, sequence, nonce)
);

-- Open while an exchange is taken for down: then only one try at a time is made, from probe_at on.
create table exchange_circuit (
  organisation_id uuid not null,
  connection_id uuid not null,
  -- Null: closed.
  opened_at timestamptz,
  probe_at timestamptz not null default '-infinity',
  failed_probes integer not null default 0,
  primary key (organisation_id, connection_id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);

-- What people decided about held deliveries.
create table exchange_review (
  organisation_id uuid not null,
  connection_id uuid not null,
  patient_id uuid not null,
  sequence bigint not null,
  id uuid not null,
  action text not null check (action in ('replay', 'skip')),
  reason text,
  -- The account, or null for an operator at the command line.
  account_id uuid,
  decided_at timestamptz not null default now(),
  primary key (organisation_id, connection_id, patient_id, sequence, id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);

-- Callbacks whose signature held, by the digest of their bytes: a repeat is answered as the first.
create table exchange_callback (
  organisation_id uuid not null,
  connection_id uuid not null,
  body_digest bytea not null,
  id uuid not null,
  delivery_id uuid not null,
  patient_id uuid not null,
  facility_id uuid not null,
  status text not null check (status in ('accepted', 'rejected')),
  assigned_id text,
  message text,
  outcome text not null check (outcome in ('applied', 'conflict')),
  received_at timestamptz not null,
  correlation_id text not null,
  primary key (organisation_id, connection_id, body_digest),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);
create unique index exchange_callback_by_id on exchange_callback (organisation_id, id);
create index exchange_callback_by_delivery on exchange_callback (organisation_id, delivery_id);
create index exchange_callback_conflicts on exchange_callback (organisation_id, connection_id, received_at)
  where outcome = 'conflict';

-- The id that an exchange knows a patient by. Never overwritten.
create table patient_assigned_identifier (
  organisation_id uuid not null,
  patient_id uuid not null,
  connection_id uuid not null,
  system text not null,
  value text not null,
  -- The value as patient_search_key holds it.
  search_key text not null,
  -- Name of the connection at the time.
  assigner text not null,
  assigned_at timestamptz not null,
  primary key (organisation_id, patient_id, connection_id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);
