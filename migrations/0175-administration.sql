-- Administration over HTTP: accounts, roles, facilities, and the log of who changed what (docs/adr/0140, 0141).

-- Accounts are listed by address, and counted by role. Partial, always true: without statistics the planner takes these
-- indexes for the queries that they are made for, and for no look-up by key.
create index account_directory_listed on account_directory (organisation_id, email collate "C", user_id);
create index account_by_role on account (organisation_id, role_id, user_type) where role_id is not null;
create index account_facility_by_facility on account_facility (organisation_id, facility_id, account_id)
  where facility_id is not null;
-- The last use of an account is that of its sessions, ended ones too.
create index session_of_account on session (organisation_id, account_id, created_at) where created_at is not null;

-- Who changed what in the administration of an organisation. Append-only for the service's role (grants.sql).
create table administration_audit (
  organisation_id uuid not null references organisation (id),
  id uuid not null,
  occurred_at timestamptz not null,
  actor_kind text not null check (actor_kind in ('account', 'operator')),
  actor_id uuid,
  -- As it was then.
  actor_email text,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  -- As it was then.
  subject_name text,
  -- Whom it concerns; null: the whole organisation.
  facility_ids uuid[],
  -- Members that changed, without secrets.
  before jsonb not null,
  after jsonb not null,
  correlation_id text not null,
  primary key (organisation_id, id)
);
create index administration_audit_by_time on administration_audit (organisation_id, occurred_at, id);
create index administration_audit_by_actor on administration_audit (organisation_id, actor_id, occurred_at, id)
  where actor_id is not null;
create index administration_audit_by_subject on administration_audit (organisation_id, subject_id, occurred_at, id)
  where subject_id is not null;
