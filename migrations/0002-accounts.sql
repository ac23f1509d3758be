-- Accounts, sessions, refresh tokens and signing keys (specification, "Authentication"; design 3.2).

-- Where an email address or a user id leads to its organisation. Not a tenant table: sign-in starts
-- before the organisation is known. On a distributed database it is a reference table.
create table account_directory (
  user_id uuid primary key,
  email text not null,
  organisation_id uuid not null
);
create unique index account_directory_email on account_directory (lower(email));
create index account_directory_by_organisation on account_directory (organisation_id);

create table account (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  user_type text not null check (user_type in ('EHR', 'STAFF')),
  role_id uuid not null,
  default_facility_id uuid,
  password_hash text,
  must_change_password boolean not null default false,
  requires_password_setup boolean not null default false,
  disabled_at timestamptz,
  password_changed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (organisation_id, id),
  foreign key (organisation_id, role_id) references role (organisation_id, id),
  foreign key (organisation_id, default_facility_id) references facility (organisation_id, id)
);

create table account_facility (
  organisation_id uuid not null,
  account_id uuid not null,
  facility_id uuid not null,
  primary key (organisation_id, account_id, facility_id),
  foreign key (organisation_id, account_id) references account (organisation_id, id),
  foreign key (organisation_id, facility_id) references facility (organisation_id, id)
);

create table session (
  organisation_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text,
  primary key (organisation_id, id),
  foreign key (organisation_id, account_id) references account (organisation_id, id)
);
create index session_by_account on session (organisation_id, account_id) where revoked_at is null;

-- Only hashes are kept. sealed_replacement holds the pair that replaced this token, sealed under a key
-- derived from the token itself, for the repeat window only.
create table refresh_token (
  organisation_id uuid not null,
  token_hash bytea not null,
  session_id uuid not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  exchanged_at timestamptz,
  sealed_replacement bytea,
  primary key (organisation_id, token_hash),
  foreign key (organisation_id, session_id) references session (organisation_id, id)
);
create index refresh_token_by_session on refresh_token (organisation_id, session_id);
create index refresh_token_sealed on refresh_token (exchanged_at) where sealed_replacement is not null;

-- One-time links that set a first password; the token is hashed at rest.
create table password_setup_link (
  organisation_id uuid not null,
  token_hash bytea not null,
  account_id uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (organisation_id, token_hash),
  foreign key (organisation_id, account_id) references account (organisation_id, id)
);

-- Keys that sign access tokens. The private key is sealed under the master key. A key signs from signs_from
-- until it is retired, and verifies until every token that it signed has expired. signs_from lies ahead of
-- created_at, so that every node knows a key before the first token that it signed.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null,
  signs_from timestamptz not null,
  retired_at timestamptz
);
