-- Failed sign-ins and their locks (specification, "Login failures"; design 3.2; docs/adr/0005). Not tenant
-- tables: they count identities before any tenant is known, those that do not exist included.

-- One row per identity for every network that never signed in to it (network ''), and one for each network
-- that did. failures and pending map the id of an attempt to its time in milliseconds; an attempt is
-- pending while its password is being verified, and counts until then.
create table sign_in_counter (
  identity_hash bytea not null,
  network text not null,
  failures jsonb not null default '{}',
  pending jsonb not null default '{}',
  locked_until timestamptz,
  updated_at timestamptz not null,
  primary key (identity_hash, network)
);
create index sign_in_counter_by_age on sign_in_counter (updated_at);

-- Networks (/24, /64) from which an identity has signed in.
create table sign_in_network (
  identity_hash bytea not null,
  network text not null,
  last_sign_in_at timestamptz not null,
  primary key (identity_hash, network)
);
create index sign_in_network_by_age on sign_in_network (last_sign_in_at);

-- What the maintenance loop looks for.
create index refresh_token_by_expiry on refresh_token (expires_at);
create index session_by_expiry on session (expires_at);
create index session_by_revocation on session (revoked_at) where revoked_at is not null;
create index password_setup_link_by_account on password_setup_link (organisation_id, account_id);
create index password_setup_link_by_expiry on password_setup_link (expires_at);
