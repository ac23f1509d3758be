-- Laboratory and imaging orders, reports and studies (design 3.7; docs/adr/0040).
-- A coded value (CodeableConcept), an identifier, a note and a pointer at another record are values, kept as
-- jsonb. A pointer is { "type", "id", "display" }: the id of a record here, or only what it was called.
-- A time is kept twice: as the FHIR text it came in (zone and precision as written), and as an instant.

create table investigation_order (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  patient_id uuid not null,
  encounter_id uuid,
  encounter_display text,
  -- `other`: an order for something else (a procedure, physiotherapy); kept, and shown by no route.
  discipline text not null check (discipline in ('laboratory', 'imaging', 'other')),
  -- The source had results, a report or a study, and no order: this one stands for it.
  made_up boolean not null default false,
  status text not null
    check (status in ('draft', 'active', 'on-hold', 'revoked', 'completed', 'entered-in-error', 'unknown')),
  intent text not null
    check (intent in ('proposal', 'plan', 'directive', 'order', 'original-order', 'reflex-order',
                      'filler-order', 'instance-order', 'option')),
  priority text check (priority in ('routine', 'urgent', 'asap', 'stat')),
  do_not_perform boolean,
  identifier jsonb,
  requisition jsonb,
  category jsonb,
  code jsonb,
  order_detail jsonb,
  based_on jsonb,
  replaces jsonb,
  occurrence_type text check (occurrence_type in ('dateTime', 'Period', 'Timing')),
  occurrence_start text,
  occurrence_end text,
  occurrence_timing jsonb,
  as_needed boolean,
  as_needed_for jsonb,
  authored_at timestamptz,
  authored_source text,
  requester jsonb,
  performer_type jsonb,
  performer jsonb,
  location_code jsonb,
  location jsonb,
  reason_code jsonb,
  reason_reference jsonb,
  body_site jsonb,
  specimen jsonb,
  note jsonb,
  patient_instruction text,
  -- What lists are ordered by: when it was written, else when the oldest of its parts was made.
  sort_at timestamptz not null default '-infinity',
  -- Grows with every change of the order or of any of its parts.
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, facility_id, encounter_id)
    references encounter (organisation_id, facility_id, id)
);
create index investigation_order_by_patient
  on investigation_order (organisation_id, facility_id, patient_id, discipline, sort_at desc, id desc)
  -- Always true: keeps the planner from taking this index for a look-up by id (see encounter_by_patient).
  where patient_id is not null;

create index investigation_order_by_identifier on investigation_order using gin (identifier jsonb_path_ops)
  where identifier is not null;

create table investigation_report (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  -- Null for a document that belongs to no order (a clinical note).
  order_id uuid,
  patient_id uuid not null,
  encounter_id uuid,
  encounter_display text,
  discipline text not null check (discipline in ('laboratory', 'imaging', 'other')),
  status text not null
    check (status in ('registered', 'partial', 'preliminary', 'final', 'amended', 'corrected', 'appended',
                      'cancelled', 'entered-in-error', 'unknown')),
  identifier jsonb,
  based_on jsonb,
  -- The order that the source names, if it is here.
  based_on_id uuid,
  category jsonb,
  code jsonb not null,
  effective_type text check (effective_type in ('dateTime', 'Period')),
  effective_start text,
  effective_end text,
  effective_at timestamptz,
  issued_source text,
  issued_at timestamptz,
  performer jsonb,
  results_interpreter jsonb,
  specimen jsonb,
  imaging_study jsonb,
  imaging_study_ids uuid[] not null default '{}',
  conclusion text,
  conclusion_code jsonb,
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, facility_id, order_id)
    references investigation_order (organisation_id, facility_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, facility_id, encounter_id)
    references encounter (organisation_id, facility_id, id)
);
create index investigation_report_by_order on investigation_report (organisation_id, facility_id, order_id)
  where order_id is not null;
create index investigation_report_by_study on investigation_report using gin (imaging_study_ids);

create index investigation_report_by_identifier on investigation_report using gin (identifier jsonb_path_ops)
  where identifier is not null;

-- The results that a report lists, in its order. A result that is not here keeps its name only.
create table investigation_report_result (
  organisation_id uuid not null,
  facility_id uuid not null,
  report_id uuid not null,
  position integer not null,
  observation_id uuid,
  display text,
  primary key (organisation_id, facility_id, report_id, position),
  foreign key (organisation_id, facility_id, report_id)
    references investigation_report (organisation_id, facility_id, id)
);
create index investigation_report_result_by_observation
  on investigation_report_result (organisation_id, facility_id, observation_id);

-- The whole report as a document: PDF or text.
create table investigation_document (
  organisation_id uuid not null,
  facility_id uuid not null,
  report_id uuid not null,
  position integer not null,
  media_type text not null,
  language text,
  title text,
  created_source text,
  url text,
  -- As the source gave them.
  size_bytes integer,
  sha1 text,
  content bytea check (octet_length(content) <= 10485760),
  primary key (organisation_id, facility_id, report_id, position),
  foreign key (organisation_id, facility_id, report_id)
    references investigation_report (organisation_id, facility_id, id)
);

create table imaging_study (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  order_id uuid,
  patient_id uuid not null,
  encounter_id uuid,
  encounter_display text,
  status text not null check (status in ('registered', 'available', 'cancelled', 'entered-in-error', 'unknown')),
  identifier jsonb,
  based_on jsonb,
  based_on_id uuid,
  modality jsonb,
  started_source text,
  started_at timestamptz,
  referrer jsonb,
  interpreter jsonb,
  procedure_reference jsonb,
  procedure_code jsonb,
  location jsonb,
  reason_code jsonb,
  reason_reference jsonb,
  note jsonb,
  description text,
  number_of_series integer,
  number_of_instances integer,
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, facility_id, order_id)
    references investigation_order (organisation_id, facility_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, facility_id, encounter_id)
    references encounter (organisation_id, facility_id, id)
);
create index imaging_study_by_order on imaging_study (organisation_id, facility_id, order_id)
  where order_id is not null;

create index imaging_study_by_identifier on imaging_study using gin (identifier jsonb_path_ops)
  where identifier is not null;

create table imaging_series (
  organisation_id uuid not null,
  facility_id uuid not null,
  study_id uuid not null,
  position integer not null,
  -- DICOM Series Instance UID.
  uid text not null,
  number integer,
  modality jsonb not null,
  description text,
  number_of_instances integer,
  body_site jsonb,
  laterality jsonb,
  specimen jsonb,
  started_source text,
  performer jsonb,
  primary key (organisation_id, facility_id, study_id, position),
  foreign key (organisation_id, facility_id, study_id) references imaging_study (organisation_id, facility_id, id)
);

create table imaging_instance (
  organisation_id uuid not null,
  facility_id uuid not null,
  study_id uuid not null,
  series_position integer not null,
  position integer not null,
  -- DICOM SOP Instance UID and class.
  uid text not null,
  sop_class jsonb not null,
  number integer,
  title text,
  primary key (organisation_id, facility_id, study_id, series_position, position),
  foreign key (organisation_id, facility_id, study_id, series_position)
    references imaging_series (organisation_id, facility_id, study_id, position) on delete cascade
);
