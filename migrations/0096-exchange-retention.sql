-- Payloads of deliveries that were done long ago are removed before their rows are (docs/operations.md, "Retention").
alter table exchange_delivery alter column body drop not null;

-- What the sweeps go through: only rows that still have something to remove.
create index exchange_delivery_with_body on exchange_delivery (organisation_id, id) where body is not null;
create index exchange_callback_with_message on exchange_callback (organisation_id, id)
  where message is not null and outcome = 'applied';
