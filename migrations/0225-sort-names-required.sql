-- Only processes before the first release wrote names without the sort name (docs/adr/0152, docs/adr/0155). The constraint
-- comes first, so that nobody writes another one meanwhile; the index has the few that there are.
alter table patient_search_key
  add constraint patient_search_key_sorted check (sort_name is not null or kind not in ('name', 'replaced')) not valid;
update patient_search_key k
set sort_name = p.sort_name
from patient p
where p.organisation_id = k.organisation_id
  and p.id = k.patient_id
  and k.kind = 'name'
  and k.sort_name is null;
drop index patient_search_key_unsorted;
