-- Heads that wait for a module (docs/adr/0054): the facility of the delivery that is next had the exchange module off
-- when it was leased. due_at is null meanwhile, so that leasing never reads them.
alter table exchange_head add column parked_facility_id uuid;
create index exchange_head_parked on exchange_head (organisation_id, connection_id, parked_facility_id)
  where parked_facility_id is not null;
