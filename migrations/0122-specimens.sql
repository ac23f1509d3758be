-- Specimens that results were measured on (R4, Specimen).
create table specimen (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  patient_id uuid not null,
  identifier jsonb,
  accession_identifier jsonb,
  status text check (status in ('available', 'unavailable', 'unsatisfactory', 'entered-in-error')),
  type jsonb,
  -- FHIR dateTime, as it came.
  received_time text,
  parent jsonb,
  request jsonb,
  collection jsonb,
  processing jsonb,
  container jsonb,
  condition jsonb,
  note jsonb,
  source_version bigint,
  source_system text,
  source_updated_at timestamptz,
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);
create index specimen_by_identifier on specimen using gin (identifier jsonb_path_ops)
  where identifier is not null;

-- Which results, orders and reports name a specimen.
create index observation_by_specimen on observation (organisation_id, facility_id, (specimen ->> 'id'))
  where specimen ->> 'id' is not null;
create index investigation_order_by_specimen on investigation_order using gin (specimen jsonb_path_ops)
  where specimen is not null;
create index investigation_report_by_specimen on investigation_report using gin (specimen jsonb_path_ops)
  where specimen is not null;
