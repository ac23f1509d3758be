-- A sign-in ends what is beyond the newest sessions of its account.
create index session_live on session (organisation_id, account_id, created_at) where revoked_at is null;
drop index session_by_account;
