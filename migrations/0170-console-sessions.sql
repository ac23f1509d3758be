-- Sessions of people at the console (docs/adr/0138). Each has its row in session too, whose expires_at is the idle end, so
-- that whatever ends a session ends these. They go when that row goes.
create table console_session (
  organisation_id uuid not null,
  session_id uuid not null,
  -- SHA-256 of the token in the cookie. A new one at each step up.
  token_hash bytea not null,
  -- A second factor was proven, or added, in this session.
  proven boolean not null default false,
  last_used_at timestamptz not null,
  -- The session ends then, whatever is done in it.
  ends_at timestamptz not null,
  user_agent text not null,
  network text not null,
  -- A TOTP secret that was shown and is not confirmed yet, sealed.
  pending_totp bytea,
  pending_totp_until timestamptz,
  -- The challenge that a passkey has to answer, once, and what the answer is for.
  challenge text,
  challenge_purpose text check (challenge_purpose in ('add', 'sign-in')),
  challenge_until timestamptz,
  primary key (organisation_id, session_id),
  foreign key (organisation_id, session_id) references session (organisation_id, id) on delete cascade
);
create unique index console_session_by_token on console_session (organisation_id, token_hash);
