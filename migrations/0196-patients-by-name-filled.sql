-- Fills what the migration before added (docs/adr/0152). Searches go on meanwhile; imports wait.
alter table patient_search_key validate constraint patient_search_key_kind_check;

update patient_search_key k
set sort_name = p.sort_name
from patient p
where p.organisation_id = k.organisation_id
  and p.id = k.patient_id
  and k.kind = 'name';

-- From one link to the next, until nobody inherits a name any more.
do $$
begin
  loop
    insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
    select distinct l.organisation_id, l.survivor_id, 'replaced', k.key, p.sort_name
    from patient_link l
    join patient p
      on p.organisation_id = l.organisation_id
      and p.id = l.survivor_id
    join patient_search_key k
      on k.organisation_id = l.organisation_id
      and k.patient_id = l.replaced_id
    where l.replaced_id is not null
      and k.kind in ('name', 'replaced')
    on conflict do nothing;
    exit when not found;
  end loop;
end
$$;

-- The kind is in the condition, so that the planner never takes these indexes for the keys of one patient. The searches of
-- the version before are answered by them too.
create index patient_search_key_by_name
  on patient_search_key (organisation_id, key text_pattern_ops, sort_name, patient_id) include (kind)
  where kind in ('name', 'replaced');
create index patient_search_key_unsorted
  on patient_search_key (organisation_id, key text_pattern_ops) include (patient_id)
  where kind = 'name' and sort_name is null;
create index patient_search_key_by_whole
  on patient_search_key (organisation_id, kind, key text_pattern_ops) include (patient_id)
  where kind in ('identifier', 'phone', 'email');
drop index patient_search_key_by_key;
