-- Extensions of an Observation that are kept (docs/fhir-mapping.md).
alter table observation add column extension jsonb;
