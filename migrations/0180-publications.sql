-- Lists of publishes of a facility, newest first, of all targets and of one; the second also tells how a target does.
create index publish_run_newest on publish_run (organisation_id, facility_id, begun_at desc, id desc);
create index publish_run_by_target on publish_run (organisation_id, facility_id, target_id, begun_at desc, id desc);
