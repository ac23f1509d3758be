-- How much happened at a facility, by the hour (docs/adr/0144). No row for an hour in which nothing did.
create table activity_hour (
  organisation_id uuid not null,
  facility_id uuid not null,
  -- When it began, UTC.
  hour timestamptz not null,
  kind text not null,
  count bigint not null,
  primary key (organisation_id, facility_id, hour, kind),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);
