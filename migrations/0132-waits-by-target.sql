-- Finds the facilities where records wait for what another facility of the organisation brings (docs/adr/0110).
create index waiting_link_by_target on waiting_link (organisation_id, target, facility_id)
  -- Always true: keeps the planner from taking this index for a look-up at one facility (see encounter_by_patient).
  where id is not null;
