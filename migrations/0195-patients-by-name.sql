-- A search by the start of a name reads each name that starts so in the order of the page, so that it reads as much as the
-- page shows, however many patients have the name (docs/adr/0152). The sort name stands beside each key for that. It is
-- null where a process of the version before wrote the key.
--
-- kind 'replaced': a name of a patient whom this one replaces, directly or by way of others. A search for that name finds
-- this patient too, if its links still say so.
-- Alone in its transaction: it keeps searches waiting. Filling it is the next migration.
alter table patient_search_key
  add column sort_name text,
  drop constraint patient_search_key_kind_check,
  add constraint patient_search_key_kind_check
    check (kind in ('name', 'identifier', 'phone', 'email', 'replaced')) not valid;
