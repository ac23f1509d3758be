-- Ids that are no UUIDs mean what one facility has under them (docs/adr/0080), in the directory too.
-- Null: every facility of the organisation finds the record, because its id is a UUID or of an earlier release.
alter table provider_organisation add column source_facility_id uuid;
alter table location add column source_facility_id uuid;
alter table practitioner add column source_facility_id uuid;
