-- The history of publishes is swept organisation by organisation (docs/adr/0133). Partial, always true: without statistics
-- the planner takes the index for that sweep, and for no look-up by key.
create index publish_run_oldest on publish_run (organisation_id, begun_at, id) where begun_at is not null;
-- Verification and archiving read the chains of the access log organisation by organisation, in this order.
create index access_log_chain on access_log (organisation_id, writer_id, sequence, occurred_at);
-- Without these a process of the version before sweeps and verifies more slowly, and as well.
drop index publish_run_by_age;
drop index access_log_by_writer;
