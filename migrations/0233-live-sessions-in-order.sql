-- A sign-in ends the older sessions of its account. This index has the live ones in the order in which they began.
create index session_live on session (organisation_id, account_id, created_at) where revoked_at is null;
drop index session_by_account;
