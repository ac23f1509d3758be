-- The system that numbered the version of a record (R4, Meta.source): numbers of two systems are not one series
-- (docs/adr/0108). Null where the source said nothing.
alter table patient add column source_system text;
alter table practitioner add column source_system text;
alter table provider_organisation add column source_system text;
alter table location add column source_system text;
alter table encounter add column source_system text;
alter table investigation_order add column source_system text;
alter table investigation_report add column source_system text;
alter table imaging_study add column source_system text;
alter table observation add column source_system text;
