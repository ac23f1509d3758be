-- An order with all that belongs to it as FHIR R4 JSON text with slots (docs/adr/0153). The text counts while
-- `rendered_version` is the version of the row and `rendered_mapping` that of the program. The columns of the order and its
-- parts stay the truth: the text may be emptied.
alter table investigation_order
  add column rendered text,
  add column rendered_version bigint,
  add column rendered_mapping integer;

-- Orders that changed since they were last rendered, for the worker that renders them.
create index investigation_order_to_render on investigation_order (organisation_id, updated_at)
  where rendered_version is distinct from version and discipline <> 'other';
