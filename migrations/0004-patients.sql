-- Patients, their registration at facilities and their privacy; practitioners, provider organisations and
-- locations that clinical records point at. Coded values (CodeableConcept) and contact blocks are jsonb values.

create table patient (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  active boolean,
  gender text check (gender in ('male', 'female', 'other', 'unknown')),
  -- FHIR date: a year, a month or a day, as it came.
  birth_date text,
  deceased_boolean boolean,
  deceased_date_time text,
  marital_status jsonb,
  multiple_birth_boolean boolean,
  multiple_birth_integer integer,
  communication jsonb,
  contact jsonb,
  -- What lists are ordered by: the folded official name.
  sort_name text not null default '',
  -- Purposes of use that the patient refuses.
  refused_purposes text[] not null default '{}',
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, id),
  check (refused_purposes <@ array['TREATMENT', 'PAYMENT', 'OPS', 'RESEARCH'])
);

create table patient_registration (
  organisation_id uuid not null,
  facility_id uuid not null,
  patient_id uuid not null,
  registered_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, patient_id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);
create index patient_registration_by_patient on patient_registration (organisation_id, patient_id);

create table patient_name (
  organisation_id uuid not null,
  patient_id uuid not null,
  position smallint not null,
  use text,
  text text,
  family text,
  given text[],
  prefix text[],
  suffix text[],
  period_start text,
  period_end text,
  primary key (organisation_id, patient_id, position),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);

create table patient_identifier (
  organisation_id uuid not null,
  patient_id uuid not null,
  position smallint not null,
  use text,
  type jsonb,
  system text,
  value text,
  period_start text,
  period_end text,
  primary key (organisation_id, patient_id, position),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);
create index patient_identifier_by_value on patient_identifier (organisation_id, value, system);

create table patient_telecom (
  organisation_id uuid not null,
  patient_id uuid not null,
  position smallint not null,
  system text,
  value text,
  use text,
  rank integer,
  primary key (organisation_id, patient_id, position),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);

create table patient_address (
  organisation_id uuid not null,
  patient_id uuid not null,
  position smallint not null,
  use text,
  type text,
  text text,
  line text[],
  city text,
  district text,
  state text,
  postal_code text,
  country text,
  primary key (organisation_id, patient_id, position),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);

-- What a patient search looks at: folded name parts (matched by their start), identifiers, phones and
-- email addresses (matched whole). kind: name | identifier | phone | email.
create table patient_search_key (
  organisation_id uuid not null,
  patient_id uuid not null,
  kind text not null check (kind in ('name', 'identifier', 'phone', 'email')),
  key text not null,
  primary key (organisation_id, patient_id, kind, key),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);
-- The patient is no key column, so that the planner never takes this index for the keys of one patient.
create index patient_search_key_by_key on patient_search_key (organisation_id, kind, key text_pattern_ops)
  include (patient_id);

create table practitioner (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  active boolean,
  gender text,
  birth_date text,
  -- How a participant shows the person.
  display text,
  name jsonb,
  telecom jsonb,
  address jsonb,
  qualification jsonb,
  version bigint not null default 1,
  content_digest bytea not null,
  updated_at timestamptz not null default now(),
  primary key (organisation_id, id)
);

-- A hospital, department or company that records name; not a tenant of this service.
create table provider_organisation (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  active boolean,
  name text,
  type jsonb,
  telecom jsonb,
  address jsonb,
  version bigint not null default 1,
  content_digest bytea not null,
  updated_at timestamptz not null default now(),
  primary key (organisation_id, id)
);

create table location (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  status text,
  name text,
  type jsonb,
  telecom jsonb,
  address jsonb,
  longitude numeric,
  latitude numeric,
  managing_organisation_id uuid,
  version bigint not null default 1,
  content_digest bytea not null,
  updated_at timestamptz not null default now(),
  primary key (organisation_id, id),
  foreign key (organisation_id, managing_organisation_id) references provider_organisation (organisation_id, id)
);

-- Business identifiers of the organisation-wide records above (Practitioner, Organization, Location), for
-- conditional references and for emitting. Patients have their own table.
create table directory_identifier (
  organisation_id uuid not null references organisation (id),
  resource_type text not null check (resource_type in ('Practitioner', 'Organization', 'Location')),
  record_id uuid not null,
  position smallint not null,
  use text,
  type jsonb,
  system text,
  value text,
  period_start text,
  period_end text,
  primary key (organisation_id, resource_type, record_id, position)
);
create index directory_identifier_by_value on directory_identifier (organisation_id, resource_type, value, system);
