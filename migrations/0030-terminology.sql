-- Terminology maps (specification, "What the service does", 4) and the local codes that no map covers.

-- One entry: what a local code is in one standard system, for the organisation (facility_id null) or for one
-- of its facilities, whose entry wins. A code that came without a system has the empty local_system.
create table terminology_map (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  facility_id uuid,
  local_system text not null,
  local_code text not null check (local_code <> ''),
  local_display text,
  target_system text not null,
  -- Null only where equivalence is unmatched: the local code has no counterpart, and someone decided so.
  target_code text,
  target_display text,
  -- R4 concept-map-equivalence: how the target relates to the local code.
  equivalence text not null default 'equivalent' check (equivalence in ('relatedto', 'equivalent', 'equal', 'wider',
    'subsumes', 'narrower', 'specializes', 'inexact', 'unmatched', 'disjoint')),
  comment text,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The account that last changed the entry; null when it was an operator's command.
  updated_by uuid,
  primary key (organisation_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  unique nulls not distinct (organisation_id, local_system, local_code, target_system, facility_id),
  check ((target_code is null) = (equivalence = 'unmatched'))
);

-- Every change that was ever made, deletions included: who, when, and what the entry was afterwards.
create table terminology_map_change (
  organisation_id uuid not null references organisation (id),
  map_id uuid not null,
  version integer not null,
  kind text not null check (kind in ('created', 'changed', 'deleted')),
  facility_id uuid,
  local_system text not null,
  local_code text not null,
  target_system text not null,
  target_code text,
  target_display text,
  equivalence text not null,
  changed_at timestamptz not null,
  changed_by uuid,
  primary key (organisation_id, map_id, version)
);
create index terminology_map_change_by_time
  on terminology_map_change (organisation_id, changed_at desc, map_id desc, version desc);

-- Local codes that were met in content on its way out and had no standard code, and where.
create table terminology_unmapped (
  organisation_id uuid not null,
  facility_id uuid not null,
  local_system text not null,
  local_code text not null,
  -- What it was met in: lab.order, lab.result, lab.report, imaging.order, imaging.report, vitals.sign, …
  place text not null,
  local_display text,
  met_count bigint not null,
  first_met_at timestamptz not null,
  last_met_at timestamptz not null,
  primary key (organisation_id, facility_id, local_system, local_code, place),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
