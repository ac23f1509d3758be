-- The order of patient lists: a page is a walk of this index from the position on.
create index patient_by_sort_name on patient (organisation_id, sort_name, id);
