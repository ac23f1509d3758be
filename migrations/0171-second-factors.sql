-- Second factors of people (docs/adr/0139).
alter table role add column requires_second_factor boolean not null default false;

-- One authenticator app an account. last_step is the time step of the last code that was taken: each counts once.
create table account_totp (
  organisation_id uuid not null,
  account_id uuid not null,
  sealed_secret bytea not null,
  last_step bigint not null,
  created_at timestamptz not null,
  primary key (organisation_id, account_id),
  foreign key (organisation_id, account_id) references account (organisation_id, id)
);

create table account_passkey (
  organisation_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  -- base64url, as WebAuthn sends it.
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (organisation_id, id),
  unique (organisation_id, credential_id),
  foreign key (organisation_id, account_id) references account (organisation_id, id)
);
create index account_passkey_by_account on account_passkey (organisation_id, account_id);

-- A row is a code that was not used yet. Keyed hashes.
create table account_recovery_code (
  organisation_id uuid not null,
  account_id uuid not null,
  code_hash bytea not null,
  primary key (organisation_id, account_id, code_hash),
  foreign key (organisation_id, account_id) references account (organisation_id, id)
);
