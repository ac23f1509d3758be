-- What was imported without an optional target that is not there yet, as its source sent it: it is taken once more when
-- the target comes (docs/adr/0110). Rows go when nothing is missing any more.
create table waiting_record (
  organisation_id uuid not null,
  facility_id uuid not null,
  resource_type text not null,
  id uuid not null,
  -- What its source calls it, in the organisation, and whether the source named it by a UUID.
  source_id uuid not null,
  has_uuid boolean not null,
  -- The import that took it: it takes it once more itself, at its end.
  run_id uuid not null,
  -- JSON.
  content text not null,
  -- What its Bundle had under references: { "urn:uuid:…": { type, id } }, null for what is of a type that is not taken.
  known jsonb not null,
  created_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, resource_type, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);

create table waiting_link (
  organisation_id uuid not null,
  facility_id uuid not null,
  -- Names the target: its id in the organisation, or a UUID made of its type and identifier.
  target uuid not null,
  resource_type text not null,
  id uuid not null,
  primary key (organisation_id, facility_id, target, resource_type, id),
  foreign key (organisation_id, facility_id, resource_type, id)
    references waiting_record (organisation_id, facility_id, resource_type, id) on delete cascade
);
create index waiting_link_by_record on waiting_link (organisation_id, facility_id, resource_type, id)
  -- Always true: keeps the planner from taking this index for a look-up by target (see encounter_by_patient).
  where id is not null;

-- Made-up orders that are gone because what they stood for came under another order. A part leads to that order.
create table replaced_order (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  part_table text not null check (part_table in ('investigation_report', 'imaging_study', 'observation')),
  part_id uuid not null,
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
