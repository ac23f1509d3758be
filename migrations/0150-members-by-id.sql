-- Reports are found by the studies that they name, and panels by their members. An index of arrays finds them in all
-- organisations at once; a table finds them inside of one (docs/adr/0131).
create table investigation_report_study (
  organisation_id uuid not null,
  facility_id uuid not null,
  report_id uuid not null,
  study_id uuid not null,
  primary key (organisation_id, facility_id, report_id, study_id),
  foreign key (organisation_id, facility_id, report_id)
    references investigation_report (organisation_id, facility_id, id)
);
-- Partial, always true: without statistics the planner takes it for look-ups that name the study, and for no others.
create index investigation_report_study_by_study
  on investigation_report_study (organisation_id, facility_id, study_id)
  where study_id is not null;

create table observation_member (
  organisation_id uuid not null,
  facility_id uuid not null,
  observation_id uuid not null,
  member_id uuid not null,
  primary key (organisation_id, facility_id, observation_id, member_id),
  foreign key (organisation_id, facility_id, observation_id)
    references observation (organisation_id, facility_id, id)
);
create index observation_member_by_member
  on observation_member (organisation_id, facility_id, member_id)
  where member_id is not null;

-- Processes of the version before write the arrays alone. Until a later migration drops them, the triggers keep the tables
-- in step. A distributed table may have no trigger: distributing it drops them.
create function investigation_report_study_keep() returns trigger
language plpgsql
as $$
begin
  delete from investigation_report_study
  where organisation_id = new.organisation_id
    and facility_id = new.facility_id
    and report_id = new.id
    and study_id <> all (new.imaging_study_ids);
  insert into investigation_report_study (organisation_id, facility_id, report_id, study_id)
  select new.organisation_id, new.facility_id, new.id, unnest(new.imaging_study_ids)
  on conflict do nothing;
  return null;
end
$$;
create trigger study_keep_inserted after insert on investigation_report
  for each row when (new.imaging_study_ids <> '{}')
  execute function investigation_report_study_keep();
create trigger study_keep_updated after update on investigation_report
  for each row when (new.imaging_study_ids <> old.imaging_study_ids)
  execute function investigation_report_study_keep();

create function observation_member_keep() returns trigger
language plpgsql
as $$
begin
  delete from observation_member
  where organisation_id = new.organisation_id
    and facility_id = new.facility_id
    and observation_id = new.id
    and member_id <> all (new.has_member_ids);
  insert into observation_member (organisation_id, facility_id, observation_id, member_id)
  select new.organisation_id, new.facility_id, new.id, unnest(new.has_member_ids)
  on conflict do nothing;
  return null;
end
$$;
create trigger member_keep_inserted after insert on observation
  for each row when (new.has_member_ids <> '{}')
  execute function observation_member_keep();
create trigger member_keep_updated after update on observation
  for each row when (new.has_member_ids <> old.has_member_ids)
  execute function observation_member_keep();

-- After the triggers: creating them waits for changes under way, and what comes later fires them.
insert into investigation_report_study (organisation_id, facility_id, report_id, study_id)
select distinct organisation_id, facility_id, id, unnest(imaging_study_ids)
from investigation_report
where imaging_study_ids <> '{}'
on conflict do nothing;
insert into observation_member (organisation_id, facility_id, observation_id, member_id)
select distinct organisation_id, facility_id, id, unnest(has_member_ids)
from observation
where has_member_ids <> '{}'
on conflict do nothing;

-- Changes of processes of the version before fire the triggers as soon as this is committed, before grants.sql runs.
grant select, insert, delete on investigation_report_study, observation_member to interchange_service;
