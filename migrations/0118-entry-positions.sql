-- Where an import met the records that say nothing of their version, while it runs: the later entry stands, whichever is
-- written first (docs/adr/0108).
create unlogged table entry_position (
  organisation_id uuid not null,
  run_id uuid not null,
  resource_type text not null,
  id uuid not null,
  -- File, then line or entry, then entry of the Bundle on the line.
  position integer[] not null,
  met_at timestamptz not null default now(),
  primary key (organisation_id, run_id, resource_type, id)
);
