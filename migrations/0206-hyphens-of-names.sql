-- Stored names with a hyphen are found as those of an import: by the word that has it (mary-ann of Ng Mary-Ann), and by the
-- hyphen of a keyboard where the source wrote another dash. Keys are added, and none is taken away. They are read once, and
-- few names have a hyphen among other words, or another dash. Searches and imports go on meanwhile.
insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
select k.organisation_id, k.patient_id, k.kind, word, k.sort_name
from (
  select organisation_id, patient_id, kind, sort_name,
    translate(
      key,
      U&'\2010\2011\2012\2013\2014\2015\058A\05BE\1400\1806\2E17\2E1A\2E3A\2E3B\2E40\2E5D\301C\3030\30A0\+010D6E\+010EAD',
      '---------------------'
    ) as typed
  from patient_search_key
  where kind in ('name', 'replaced')
    and (
      key ~ U&'[\2010-\2015\058A\05BE\1400\1806\2E17\2E1A\2E3A\2E3B\2E40\2E5D\301C\3030\30A0\+010D6E\+010EAD]'
      or (key like '%-%' and key like '% %')
    )
) k
cross join lateral unnest(
  array[typed] || string_to_array(typed, ' ') || regexp_split_to_array(typed, '[ -]+')
) word
where word <> ''
on conflict do nothing;
