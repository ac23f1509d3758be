-- How much waited and was held when it was last counted, so that asking for it costs nothing (docs/adr/0055).
create table exchange_queue_count (
  organisation_id uuid not null,
  connection_id uuid not null,
  queued bigint not null,
  held bigint not null,
  -- Of those that are next in their lane and not held; null when there is none.
  oldest_queued_at timestamptz,
  counted_at timestamptz not null,
  -- How long counting took: the longer, the later it is done again.
  took_ms double precision not null,
  primary key (organisation_id, connection_id),
  foreign key (organisation_id, connection_id) references exchange_connection (organisation_id, id)
);
