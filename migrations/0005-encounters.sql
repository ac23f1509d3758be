-- Encounters belong to one facility: an id is unique within it.

create table encounter (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  patient_id uuid not null,
  status text not null check (status in ('planned', 'in-progress', 'finished', 'cancelled', 'entered-in-error')),
  -- HL7 v3 ActCode.
  class_code text not null,
  class_display text,
  -- The interval [period_start, period_end) as instants, and the FHIR dateTime that each came as.
  period_start timestamptz,
  period_end timestamptz,
  period_start_source text,
  period_end_source text,
  -- What searches are ordered by: period_start, or -infinity where it is not known.
  sort_start timestamptz not null,
  identifier jsonb,
  type jsonb,
  priority jsonb,
  reason_code jsonb,
  discharge_disposition jsonb,
  service_provider_id uuid,
  service_provider_display text,
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, service_provider_id) references provider_organisation (organisation_id, id),
  check (period_end is null or period_start is null or period_start <= period_end)
);
-- Partial, always true: without statistics the planner may take this index for a look-up by id and walk the whole
-- facility; the condition keeps it to queries that name the patient. A first bulk load is hundreds of times faster.
create index encounter_by_patient on encounter (organisation_id, facility_id, patient_id, sort_start desc, id desc)
  where patient_id is not null;

create table encounter_participant (
  organisation_id uuid not null,
  facility_id uuid not null,
  encounter_id uuid not null,
  position smallint not null,
  practitioner_id uuid,
  display text,
  type jsonb,
  period_start text,
  period_end text,
  primary key (organisation_id, facility_id, encounter_id, position),
  foreign key (organisation_id, facility_id, encounter_id) references encounter (organisation_id, facility_id, id),
  foreign key (organisation_id, practitioner_id) references practitioner (organisation_id, id)
);

create table encounter_location (
  organisation_id uuid not null,
  facility_id uuid not null,
  encounter_id uuid not null,
  position smallint not null,
  location_id uuid,
  display text,
  status text,
  period_start text,
  period_end text,
  primary key (organisation_id, facility_id, encounter_id, position),
  foreign key (organisation_id, facility_id, encounter_id) references encounter (organisation_id, facility_id, id),
  foreign key (organisation_id, location_id) references location (organisation_id, id)
);

create table encounter_identifier (
  organisation_id uuid not null,
  facility_id uuid not null,
  encounter_id uuid not null,
  position smallint not null,
  system text not null,
  value text not null,
  primary key (organisation_id, facility_id, encounter_id, position),
  foreign key (organisation_id, facility_id, encounter_id) references encounter (organisation_id, facility_id, id)
);
create index encounter_identifier_by_value on encounter_identifier (organisation_id, facility_id, value, system);
