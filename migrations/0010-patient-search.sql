-- The order of patient lists: a page is a walk of this index from the position on.
-- Partial, always true: the planner must not take this index for a look-up by id (see encounter_by_patient).
create index patient_by_sort_name on patient (organisation_id, sort_name, id) where sort_name >= '';
