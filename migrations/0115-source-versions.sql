-- Which version of a record the source said it is (R4, Meta): an older one never overwrites a newer one (docs/adr/0108).
-- Null where the source said nothing.
alter table patient add column source_version bigint, add column source_updated_at timestamptz;
alter table practitioner add column source_version bigint, add column source_updated_at timestamptz;
alter table provider_organisation add column source_version bigint, add column source_updated_at timestamptz;
alter table location add column source_version bigint, add column source_updated_at timestamptz;
alter table encounter add column source_version bigint, add column source_updated_at timestamptz;
alter table investigation_order add column source_version bigint, add column source_updated_at timestamptz;
alter table investigation_report add column source_version bigint, add column source_updated_at timestamptz;
alter table imaging_study add column source_version bigint, add column source_updated_at timestamptz;
alter table observation add column source_version bigint, add column source_updated_at timestamptz;
