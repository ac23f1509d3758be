-- Organisations, facilities, modules and roles (design section 4).
-- Every tenant table leads its primary key and foreign keys with organisation_id, so that it can be
-- distributed by organisation.

create table organisation (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table facility (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  name text not null,
  time_zone text not null default 'UTC',
  created_at timestamptz not null default now(),
  primary key (organisation_id, id)
);

-- A module is on for a facility when its row exists.
create table facility_module (
  organisation_id uuid not null,
  facility_id uuid not null,
  module text not null check (module in ('patients', 'encounters', 'vitals', 'lab', 'imaging', 'publish', 'exchange')),
  primary key (organisation_id, facility_id, module),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);

create table role (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  name text not null,
  permissions text[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (organisation_id, id),
  unique (organisation_id, name)
);
