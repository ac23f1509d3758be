-- Names with letters such as ł, ø and æ, which Unicode does not decompose, are found by the letters of a plain keyboard too.
-- The earlier key stays: the version before looks for it. Few names have such a letter, so the keys are read once and
-- few are written: 4 s where 60,000 of 3,000,000 keys had one. Searches and imports go on meanwhile.
insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
select organisation_id, patient_id, kind,
  left(replace(replace(replace(translate(key, 'łøđðħŧ', 'loddht'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 200),
  sort_name
from patient_search_key
where kind in ('name', 'replaced')
  and key ~ '[łøđðħŧæœþ]'
on conflict do nothing;
