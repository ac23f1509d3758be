-- Sweeps go organisation by organisation (docs/adr/0133). An index that begins with the organisation lets each read its own
-- rows alone. The ones before it served sweeps over all organisations.
create index refresh_token_expired on refresh_token (organisation_id, expires_at);
drop index refresh_token_by_expiry;
create index refresh_token_replaced on refresh_token (organisation_id, exchanged_at) where sealed_replacement is not null;
drop index refresh_token_sealed;
create index session_expired on session (organisation_id, expires_at);
drop index session_by_expiry;
create index session_revoked on session (organisation_id, revoked_at) where revoked_at is not null;
drop index session_by_revocation;
create index password_setup_link_expired on password_setup_link (organisation_id, expires_at);
drop index password_setup_link_by_expiry;
create index publish_run_oldest on publish_run (organisation_id, begun_at, id);
drop index publish_run_by_age;
-- Verification and archiving read the chains of the access log organisation by organisation, in this order.
create index access_log_chain on access_log (organisation_id, writer_id, sequence);
drop index access_log_by_writer;
