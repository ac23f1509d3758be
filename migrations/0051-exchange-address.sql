-- Who set the address of a connection (docs/adr/0052): true for an operator on the command line, who may name any
-- host; false for an administrator over HTTP, whose address must be one of the public internet at each try. Whatever
-- stood before was allowed then.
alter table exchange_connection add column operator_address boolean not null default true;

-- Addresses are kept as they are sent to: URL parsers leave these characters out.
update exchange_connection
set address = btrim(regexp_replace(address, '[\t\r\n]', '', 'g'))
where address <> btrim(regexp_replace(address, '[\t\r\n]', '', 'g'));
