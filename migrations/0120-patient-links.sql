-- Links of a patient to other records of the same person (R4, Patient.link), as the source gave them.
create table patient_link (
  organisation_id uuid not null,
  patient_id uuid not null,
  position smallint not null,
  -- Null where the other patient is not here.
  other_id uuid,
  other_display text,
  type text not null check (type in ('replaced-by', 'replaces', 'refer', 'seealso')),
  primary key (organisation_id, patient_id, position),
  foreign key (organisation_id, patient_id) references patient (organisation_id, id)
);
create index patient_link_by_other on patient_link (organisation_id, other_id)
  where other_id is not null;
