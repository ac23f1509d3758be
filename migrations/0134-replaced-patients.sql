-- Who is replaced by whom, whichever of the two records says it: one look-up tells that a patient was not replaced.
alter table patient_link
  add column replaced_id uuid generated always as (
    case
      when other_id is null then null
      when type = 'replaced-by' then patient_id
      when type = 'replaces' then other_id
    end
  ) stored,
  add column survivor_id uuid generated always as (
    case type
      when 'replaced-by' then other_id
      when 'replaces' then patient_id
    end
  ) stored;
create index patient_link_by_replaced on patient_link (organisation_id, replaced_id) include (survivor_id)
  where replaced_id is not null;
create index patient_link_by_survivor on patient_link (organisation_id, survivor_id) include (replaced_id)
  where replaced_id is not null;
