-- What was measured or found: laboratory results and vital signs, with their parts (docs/adr/0040).
-- One row may be both: an oxygen saturation is a vital sign and a result of a blood gas report.

-- The vital signs of one encounter and time.
create table vital_set (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  patient_id uuid not null,
  encounter_id uuid,
  taken_at timestamptz not null,
  -- Grows with every change of any of its vital signs.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, facility_id, encounter_id)
    references encounter (organisation_id, facility_id, id)
);
create index vital_set_by_patient
  on vital_set (organisation_id, facility_id, patient_id, taken_at desc, id desc)
  -- Always true: keeps the planner from taking this index for a look-up by id (see encounter_by_patient).
  where patient_id is not null;

create table observation (
  organisation_id uuid not null,
  facility_id uuid not null,
  id uuid not null,
  -- Set for a result. Neither: an observation of another kind (a survey, social history), shown by no route.
  order_id uuid,
  -- Set for a vital sign.
  vital_set_id uuid,
  patient_id uuid not null,
  encounter_id uuid,
  encounter_display text,
  kind text not null check (kind in ('laboratory', 'vital-sign', 'imaging', 'other')),
  -- By its category or by its code; a laboratory result may be one too.
  vital_sign boolean not null,
  status text not null
    check (status in ('registered', 'preliminary', 'final', 'amended', 'corrected', 'cancelled',
                      'entered-in-error', 'unknown')),
  identifier jsonb,
  based_on jsonb,
  -- The order that the source names, if it is here.
  based_on_id uuid,
  part_of jsonb,
  focus jsonb,
  category jsonb,
  code jsonb not null,
  effective_type text check (effective_type in ('dateTime', 'Period', 'Timing', 'Instant')),
  effective_start text,
  effective_end text,
  effective_timing jsonb,
  effective_at timestamptz,
  issued_source text,
  issued_at timestamptz,
  performer jsonb,
  -- The value: value_type is the FHIR type, the columns hold its parts. A numeric keeps its digits: 1.20.
  value_type text
    check (value_type in ('Quantity', 'CodeableConcept', 'string', 'boolean', 'integer', 'Range', 'Ratio',
                          'SampledData', 'time', 'dateTime', 'Period')),
  value_number numeric,
  value_comparator text check (value_comparator in ('<', '<=', '>=', '>')),
  value_unit text,
  value_unit_system text,
  value_unit_code text,
  value_text text,
  value_concept jsonb,
  -- Range, Ratio, SampledData, Period.
  value_structure jsonb,
  data_absent_reason jsonb,
  interpretation jsonb,
  note jsonb,
  body_site jsonb,
  method jsonb,
  specimen jsonb,
  device jsonb,
  has_member jsonb,
  has_member_ids uuid[] not null default '{}',
  derived_from jsonb,
  version bigint not null default 1,
  content_digest bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id),
  foreign key (organisation_id, facility_id, order_id)
    references investigation_order (organisation_id, facility_id, id),
  foreign key (organisation_id, facility_id, vital_set_id)
    references vital_set (organisation_id, facility_id, id),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id),
  foreign key (organisation_id, facility_id, encounter_id)
    references encounter (organisation_id, facility_id, id)
);
create index observation_by_order on observation (organisation_id, facility_id, order_id)
  where order_id is not null;
create index observation_by_vital_set on observation (organisation_id, facility_id, vital_set_id)
  where vital_set_id is not null;
create index observation_by_member on observation using gin (has_member_ids)
  where has_member_ids <> '{}';

create index observation_by_identifier on observation using gin (identifier jsonb_path_ops)
  where identifier is not null;

-- Parts that are reported together: systolic and diastolic pressure.
create table observation_component (
  organisation_id uuid not null,
  facility_id uuid not null,
  observation_id uuid not null,
  position integer not null,
  code jsonb not null,
  value_type text
    check (value_type in ('Quantity', 'CodeableConcept', 'string', 'boolean', 'integer', 'Range', 'Ratio',
                          'SampledData', 'time', 'dateTime', 'Period')),
  value_number numeric,
  value_comparator text check (value_comparator in ('<', '<=', '>=', '>')),
  value_unit text,
  value_unit_system text,
  value_unit_code text,
  value_text text,
  value_concept jsonb,
  value_structure jsonb,
  data_absent_reason jsonb,
  interpretation jsonb,
  primary key (organisation_id, facility_id, observation_id, position),
  foreign key (organisation_id, facility_id, observation_id)
    references observation (organisation_id, facility_id, id)
);

-- Ranges to read a value against; component is the position of the part it is for, -1 for the whole.
create table observation_reference_range (
  organisation_id uuid not null,
  facility_id uuid not null,
  observation_id uuid not null,
  component integer not null,
  position integer not null,
  low_number numeric,
  low_unit text,
  low_unit_system text,
  low_unit_code text,
  high_number numeric,
  high_unit text,
  high_unit_system text,
  high_unit_code text,
  type jsonb,
  applies_to jsonb,
  age jsonb,
  text text,
  primary key (organisation_id, facility_id, observation_id, component, position),
  foreign key (organisation_id, facility_id, observation_id)
    references observation (organisation_id, facility_id, id)
);
