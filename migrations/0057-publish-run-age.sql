-- The sweep of the publish history goes through it by age (docs/adr/0057).
create index publish_run_by_age on publish_run (begun_at, id);
