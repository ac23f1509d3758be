-- What sign-in removes is looked for organisation by organisation. Partial, always true: without statistics the planner
-- takes these indexes for the queries that they are made for, and for no look-up by key.
create index refresh_token_ended on refresh_token (organisation_id, expires_at)
  where expires_at is not null;
create index refresh_token_replaced on refresh_token (organisation_id, exchanged_at)
  where sealed_replacement is not null and exchanged_at is not null;
create index session_ended on session (organisation_id, expires_at)
  where expires_at is not null;
create index session_revoked on session (organisation_id, revoked_at)
  where revoked_at is not null;
create index password_setup_link_ended on password_setup_link (organisation_id, expires_at)
  where expires_at is not null;
-- Without these a process of the version before sweeps more slowly, and as well.
drop index refresh_token_by_expiry;
drop index refresh_token_sealed;
drop index session_by_expiry;
drop index session_by_revocation;
drop index password_setup_link_by_expiry;
