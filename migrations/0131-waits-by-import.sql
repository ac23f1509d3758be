-- A wait knows the content that it stands for: what another facility or an earlier release wrote since is not replaced
-- by it (docs/adr/0110). Its links know the import that took it, so that an import passes over its own at no cost.
-- Waits without that are worth nothing: their records wait again from their next import on.
delete from waiting_record;

-- Of the stored record.
alter table waiting_record add column content_digest bytea not null;

alter table waiting_link add column run_id uuid not null;
alter table waiting_link drop constraint waiting_link_pkey;
alter table waiting_link add primary key (organisation_id, facility_id, target, run_id, resource_type, id);
