-- Elements of an Encounter that were not kept before (R4, Encounter).
alter table encounter
  add column service_type jsonb,
  -- A Duration.
  add column length jsonb,
  -- The visit that this one is a part of; null where it is not here.
  add column part_of_id uuid,
  add column part_of_display text,
  -- Encounter.hospitalization but for its dischargeDisposition.
  add column hospitalization jsonb;
alter table encounter_location add column physical_type jsonb;
