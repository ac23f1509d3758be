-- From when an outbound secret signs (docs/adr/0088); 'infinity' while it waits to be activated. Of a callback secret
-- it says nothing more than created_at. A release that does not know the column makes secrets that sign at once.
alter table exchange_secret add column active_from timestamptz not null default now();
update exchange_secret
set active_from = created_at;
