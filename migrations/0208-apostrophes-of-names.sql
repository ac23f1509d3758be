-- Stored names with another sign for an apostrophe (O´Neil, Kaʻiulani) are found as those of an import: as with that of a
-- keyboard. The keys that they have stay: the version before looks for them. Few names have such a sign, so all are read once
-- and few keys are written. Searches and imports go on meanwhile.
with marked as (
  select n.organisation_id, n.patient_id, p.sort_name,
    regexp_replace(
      normalize(regexp_replace(part, U&'[\00B4\02BB\201B\2032]', '', 'g'), NFKD),
      U&'[\0300-\036F''\2019\2018\02BC`]', '', 'g'
    ) as plain
  from patient_name n
  join patient p
    on p.organisation_id = n.organisation_id
    and p.id = n.patient_id
  cross join lateral unnest(array[n.family, n.text] || n.given) part
  where part ~ U&'[\00B4\02BB\201B\2032]'
), folded as (
  select organisation_id, patient_id, sort_name,
    left(btrim(regexp_replace(replace(lower(plain), 'ß', 'ss'), '\s+', ' ', 'g')), 200) as whole
  from marked
), typed as (
  select organisation_id, patient_id, sort_name, whole,
    regexp_replace(
      whole,
      U&'[\2010-\2015\058A\05BE\1400\1806\2E17\2E1A\2E3A\2E3B\2E40\2E5D\301C\3030\30A0\+010D6E\+010EAD]', '-', 'g'
    ) as text
  from folded
), keyed as (
  select organisation_id, patient_id, sort_name, word
  from typed
  cross join lateral unnest(
    array[whole, text] || string_to_array(text, ' ') || regexp_split_to_array(text, '[ -]+')
  ) word
)
insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
select organisation_id, patient_id, 'name', key, sort_name
from keyed
cross join lateral unnest(array[
  word,
  left(replace(replace(replace(translate(word, 'łøđðħŧ', 'loddht'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 200)
]) key
where key <> ''
on conflict do nothing;

-- Who replaces such a patient inherits the names, from one link to the next.
do $$
begin
  if not exists (
    select from patient_name n
    cross join lateral unnest(array[n.family, n.text] || n.given) part
    where part ~ U&'[\00B4\02BB\201B\2032]'
  ) then
    return;
  end if;
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
